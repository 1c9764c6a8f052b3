// The trajectory writer: steps into columns, columns into chunks, chunks into items.
#ifndef REVERB_TF_CLIENT_TRAJECTORY_WRITER_IMPL_H_
#define REVERB_TF_CLIENT_TRAJECTORY_WRITER_IMPL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cc/client/chunk_length_tuner.h"
#include "cc/client/chunk_pool.h"
#include "cc/client/draft_item.h"
#include "cc/client/endpoint.h"
#include "cc/client/insert_session.h"
#include "cc/client/item_tables.h"
#include "cc/client/key_sequence.h"
#include "cc/client/signature_cache.h"
#include "cc/client/writer_column.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::client {

// INVALID_ARGUMENT unless 1 <= max_chunk_length <= num_keep_alive_refs, or max_chunk_length is 0.
Status CheckChunkerOptions(const ChunkerOptions& options);

// Columns whose open rows are those of the same steps, none missing, are closed into one chunk. An
// item waits here until its last row is in a chunk, and so do the items behind it; then the session
// has it.
class TrajectoryWriterImpl : public TrajectoryWriter {
 public:
  // `cache` null: items are not checked. `signatures` null: none are known yet.
  TrajectoryWriterImpl(std::shared_ptr<Endpoint> endpoint, const TrajectoryWriterOptions& options,
                       std::shared_ptr<SignatureCache> cache, SignaturesPtr signatures);
  ~TrajectoryWriterImpl() override;

  Status Append(const TensorView* values, int32_t n, bool partial, StepRef* refs) override;
  Status AppendSequence(const TensorView* values, int32_t n, StepRef* refs) override;
  Result<std::vector<uint64_t>> AppendBatch(const TensorView* values, int32_t n,
                                            const BatchItems& items, StepRef* refs,
                                            const WaitOptions& wait) override;
  Result<uint64_t> CreateItem(const std::string& table, double priority,
                              const std::vector<ItemColumn>& columns,
                              const WaitOptions& wait) override;
  Status Flush(int64_t max_pending, const WaitOptions& wait) override;
  // trajectory_writer_async.cc
  std::function<void()> PrepareItemAsync(const std::string& table, Duration timeout,
                                         StatusCallback callback) override;
  std::function<void()> FlushAsync(int64_t max_pending, Duration timeout,
                                   StatusCallback callback) override;
  Status EndEpisode(bool clear_buffers, const WaitOptions& wait) override;
  Status Configure(int32_t column, const ChunkerOptions& options) override;
  void Close() override;
  int64_t episode_steps() const override { return step_; }
  int32_t max_num_keep_alive_refs() const override;
  bool IsAlive(const StepRef& ref) const override;
  Result<RefInfo> Describe(const StepRef& ref) const override;
  Status Read(const StepRef& ref, void* out, size_t out_bytes) const override;
  Result<std::vector<std::string>> ReadStrings(const StepRef& ref) const override;

 private:
  // Open rows are closed early when they are larger, whatever the chunk length; and columns are not
  // put together beyond it.
  inline static constexpr size_t kMaxGroupBytes = 64 << 20;

  struct Column {
    explicit Column(const ChunkerOptions& options) : rows(options) {}
    WriterColumn rows;
    bool in_open_step = false;  // has a value in a step that is still open
    int64_t last_item = 0;      // number of items there were when one used it last
  };

  Status CheckAlive() const;
  Status CheckAppend(const TensorView* values, int32_t n) const;
  // That a value is one of the column's, that the column takes one now, and that it can be sent.
  Status CheckKind(int32_t column, const TensorView& value) const;
  static Status CheckSize(int32_t column, const TensorView& value);
  void NoteEvents();
  void AddColumns(int32_t n);
  void AddRows(const TensorView* values, int32_t n, bool partial, StepRef* refs);
  // After a complete step: what is due is closed, the rest copied.
  Status CloseStep();
  // Batches: see trajectory_writer_batch.cc.
  struct Batch;
  Status CheckBatch(const TensorView* values, int32_t n, Batch* batch) const;
  Status CheckBatchItems(const BatchItems& items, const ItemTables::Entry& entry,
                         const TensorView* values, Batch* batch);
  // How many of the steps from `first` on go into the same chunks.
  int32_t PieceOfBatch(const Batch& batch, int64_t first) const;
  void AddBatchRows(const Batch& batch, int64_t first, int32_t count, StepRef* refs);
  Status AddBatchItems(const Batch& batch, const BatchItems& items, const std::string& table,
                       int64_t first, int32_t count, std::vector<uint64_t>* keys);

  ChunkerOptions OptionsFor(int32_t column) const;
  int32_t ChunkLength(const WriterColumn& column) const;
  void UpdateTuner();

  // Closes the open rows of these columns. The columns are in order, each has open rows.
  Status CloseColumns(const std::vector<int32_t>& columns);
  // Into one chunk.
  Status CloseGroup(const int32_t* columns, int32_t n);
  bool SameSteps(const Column& a, const Column& b) const;
  // The columns with open rows of which one is wanted, or that would share a chunk with one that
  // is.
  std::vector<int32_t> WithCompanions(const std::vector<bool>& wanted) const;
  Status CloseAll();

  // Gives the items to the session, but for the newest `max_pending`; INVALID_ARGUMENT if that is
  // negative.
  Status SendAllBut(int64_t max_pending);
  // Gives the items at the front whose rows are all in chunks to the session.
  Status SendComplete();
  Status SendItem(const DraftItem& draft);
  // The writer that has the range; null if it is none of this library.
  const TrajectoryWriterImpl* OwnerOf(const RowRange& range) const;
  const WriterColumn& RowsOf(const RowRange& range) const {
    return OwnerOf(range)->columns_[range.column].rows;
  }
  Status CheckColumn(int32_t index, const ItemColumn& column) const;
  Status CheckRange(int32_t index, const RowRange& range) const;
  void AddColumn(const ItemColumn& column, DraftItem* draft) const;
  Status CheckSignature(const std::string& table, const TableSignature& signature,
                        const std::vector<ItemColumn>& columns);
  // Rows of other writers that are not in a chunk yet.
  Status CloseRowsOfOthers(const std::vector<ItemColumn>& columns);
  // Rows whose chunk is due, in a step that is still open.
  Status CloseDueRows(const std::vector<ItemColumn>& columns);
  Result<WriterColumn::Place> FindAlive(const StepRef& ref) const;

  const std::shared_ptr<Endpoint> endpoint_;
  const TrajectoryWriterOptions options_;
  std::shared_ptr<InsertSession> session_;
  ItemTables tables_;

  std::deque<Column> columns_;
  std::map<int32_t, ChunkerOptions> overrides_;  // of columns that do not exist yet
  ChunkPool pool_;
  ChunkLengthTuner tuner_;
  const KeySequence chunk_keys_;
  uint64_t chunks_made_ = 0;
  size_t uncounted_bytes_ = 0;  // of chunks that no item has been charged with

  uint64_t episode_id_ = 0;
  int32_t step_ = 0;
  bool step_is_open_ = false;

  std::deque<DraftItem> drafts_;  // in order; the first is not complete
  int64_t items_made_ = 0;

  DraftItem scratch_;
  std::vector<int32_t> due_;       // scratch of Append
  std::vector<TensorView> views_;  // scratch of CloseGroup
  std::vector<wire::CompressionAdvisor> advisors_;
  std::vector<int32_t> group_;
  std::vector<ColumnShape> shapes_;  // scratch of CheckSignature
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TRAJECTORY_WRITER_IMPL_H_
