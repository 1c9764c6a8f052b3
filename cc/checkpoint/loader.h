// Reads a checkpoint of either format, also in the old forms.
#ifndef REVERB_TF_CHECKPOINT_LOADER_H_
#define REVERB_TF_CHECKPOINT_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cc/checkpoint/catalog.h"
#include "cc/checkpoint/load_watch.h"
#include "cc/checkpoint/manifest.h"
#include "cc/checkpoint/record_reader.h"
#include "cc/checkpoint/stored_chunks.h"
#include "cc/core/chunk.h"
#include "cc/core/flat_map.h"
#include "cc/core/table_snapshot.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// One checkpoint in steps: tables and items first, chunks when they are asked for. Not thread-safe;
// after an error of no use. Damage is DATA_LOSS with file, record, byte and cause, followed by the
// other checkpoints of the folder.
class Loader {
 public:
  Loader(FileSystem* files, Place place, const CheckpointLoadOptions& options);

  Status ReadTablesAndItems();
  // Only chunks that an item needs are kept.
  Status ReadChunks();
  // After both: the tables with their items in the order of insertion. Only once.
  Result<std::vector<core::TableSnapshot>> TakeTables();

  const Place& place() const { return place_; }
  // Without items, until they are taken.
  const std::vector<core::TableSnapshot>& tables() const { return tables_; }
  // Items of tables()[i].
  int64_t num_items(size_t i) const { return num_items_[i]; }
  // Of all files.
  int64_t num_bytes() const { return watch_.total(); }
  // Where the chunks are, for a store that goes on writing there; empty unless incremental.
  StoredChunks TakeStored() { return std::move(stored_); }

 private:
  // A PrioritizedItem in item_bytes_, or the record of a table in the old form.
  struct RawItem {
    size_t begin;
    size_t size;
    int64_t record;
    int64_t start;
    bool old_form;
  };

  Status ReadManifestAndSizes();
  Status ReadTables();
  Status ReadItems();
  Status AddItem(std::string_view bytes, const RecordReader& reader);
  Status ReadSegments();
  Status ReadChunkFile(const std::string& path, size_t segment);
  Status ReadChunk(std::string_view record, const RecordReader& reader, size_t segment);
  Status ParseItem(const RawItem& raw);
  Result<std::unique_ptr<RecordReader>> OpenFile(const std::string& path);
  // Compares with what the manifest says, if there is one; reports progress.
  Status CheckEnd(const RecordReader& reader, const std::string& path,
                  const ManifestFile* expected);
  // Adds the other checkpoints to DATA_LOSS.
  Status Finish(Status status) const;

  FileSystem* const files_;
  const Place place_;
  LoadWatch watch_;
  Manifest manifest_;  // empty unless incremental
  std::vector<core::TableSnapshot> tables_;
  std::vector<int64_t> num_items_;
  std::unordered_map<std::string, size_t> table_numbers_;
  bool items_in_tables_ = false;
  bool zlib_ = false;  // the file of tables is compressed
  std::string item_bytes_;
  std::vector<RawItem> items_;
  core::FlatMap<uint32_t, 0xffffffff> needed_;  // keys of the chunks of items: indices of chunks_
  std::vector<core::ChunkRef> chunks_;
  StoredChunks stored_;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_LOADER_H_
