// The writer whose columns go together: steps into chunks, chunks into items over the newest steps.
#ifndef REVERB_TF_CLIENT_WRITER_IMPL_H_
#define REVERB_TF_CLIENT_WRITER_IMPL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cc/client/chunk_pool.h"
#include "cc/client/draft_item.h"
#include "cc/client/endpoint.h"
#include "cc/client/insert_session.h"
#include "cc/client/item_tables.h"
#include "cc/client/key_sequence.h"
#include "cc/client/signature_cache.h"
#include "cc/client/writer_column.h"
#include "cc/wire/compression_advisor.h"
#include "reverb_tf/writer.h"

namespace reverb_tf::client {

// INVALID_ARGUMENT unless the options are as WriterOptions says.
Status CheckWriterOptions(const WriterOptions& options);

class WriterImpl : public Writer {
 public:
  WriterImpl(std::shared_ptr<Endpoint> endpoint, const WriterOptions& options,
             std::shared_ptr<SignatureCache> cache, SignaturesPtr signatures);
  ~WriterImpl() override;

  Status Append(const TensorView* values, int32_t n, const WaitOptions& wait) override;
  Status AppendSequence(const TensorView* values, int32_t n, const WaitOptions& wait) override;
  Result<uint64_t> CreateItem(const std::string& table, int64_t num_timesteps, double priority,
                              const WaitOptions& wait) override;
  Status Flush(const WaitOptions& wait) override;
  Status Close(bool retry_on_unavailable, const WaitOptions& wait) override;

 private:
  // Steps [first, first + num_steps) are in a chunk.
  struct Kept {
    int64_t first;
    int32_t num_steps;
    int64_t layout;
    ChunkPool::Slot slot;
  };

  Status CheckAlive() const;
  // That n values can be the next step.
  Status CheckStep(const TensorView* values, int32_t n) const;
  // If so many more steps of so many bytes complete the chunk: waits until the items that wait for
  // it may go out.
  Status WaitForChunk(int64_t steps, size_t bytes, const WaitOptions& wait);
  Status AddStep(const TensorView* values, int32_t n);
  // Columns that can hold the values, where those there are cannot.
  void StartChunk(const TensorView* values, int32_t n);
  Status CloseChunk();
  size_t OpenBytes() const;

  int64_t FirstOpenStep() const { return num_steps_ - open_steps_; }
  Status CheckSteps(int64_t num_timesteps) const;
  Status CheckSignature(const std::string& table, const TableSignature& signature,
                        int64_t num_timesteps);
  void Fill(int64_t num_timesteps, DraftItem* item) const;
  Status SendDrafts();
  Status SendItem(const DraftItem& item);

  const std::shared_ptr<Endpoint> endpoint_;
  const WriterOptions options_;
  std::shared_ptr<InsertSession> session_;
  ItemTables tables_;

  std::vector<WriterColumn> columns_;  // what they hold are the open steps
  std::vector<wire::CompressionAdvisor> advisors_;
  int64_t layout_ = 0;  // changes with a dtype or shape
  int32_t open_steps_ = 0;
  int64_t num_steps_ = 0;
  int32_t next_step_ = 0;  // of the episode
  uint64_t episode_id_;
  std::deque<Kept> kept_;
  ChunkPool pool_;
  const KeySequence chunk_keys_;
  uint64_t chunks_made_ = 0;
  size_t uncounted_bytes_ = 0;  // of chunks that no item has been charged with

  std::vector<DraftItem> drafts_;  // they wait for the open steps
  uint64_t items_made_ = 0;

  DraftItem scratch_;
  std::vector<TensorView> views_;    // scratch of CloseChunk
  std::vector<ColumnShape> shapes_;  // scratch of CheckSignature
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_WRITER_IMPL_H_
