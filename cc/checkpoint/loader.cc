#include "cc/checkpoint/loader.h"

#include <algorithm>

#include "cc/checkpoint/layout.h"
#include "cc/wire/chunk_codec.h"
#include "cc/wire/cursor.h"
#include "cc/wire/item_codec.h"
#include "cc/wire/old_item.h"
#include "cc/wire/table_record.h"

namespace reverb_tf::checkpoint {
namespace {

// Of a serialized ChunkData; false when it is none.
bool ReadChunkKey(std::string_view record, uint64_t* key) {
  wire::Cursor chunk(record);
  *key = 0;
  return wire::ReadMessage(&chunk, [&](uint32_t field, wire::WireType type) {
    if (field != 1) return chunk.SkipValue(type);
    return type == wire::WireType::kVarint && chunk.ReadVarint(key);
  });
}

}  // namespace

Loader::Loader(FileSystem* files, Place place, const CheckpointLoadOptions& options)
    : files_(files), place_(std::move(place)), watch_(options) {}

Status Loader::Finish(Status status) const {
  if (status.code() != StatusCode::kDataLoss) return status;
  return {status.code(), status.message() + OtherCheckpoints(files_, place_)};
}

Status Loader::ReadTablesAndItems() {
  Status status = ReadManifestAndSizes();
  if (status.ok()) status = ReadTables();
  if (status.ok()) status = ReadItems();
  return Finish(std::move(status));
}

Status Loader::ReadManifestAndSizes() {
  if (place_.format == CheckpointFormat::kIncremental) {
    REVERB_TF_ASSIGN_OR_RETURN(manifest_, ReadManifest(files_, place_.folder()));
    stored_.segments = manifest_.segments;
    watch_.AddTotal(manifest_.tables.num_bytes + manifest_.items.num_bytes);
    for (const ManifestFile& segment : manifest_.segments) watch_.AddTotal(segment.num_bytes);
    return OkStatus();
  }
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files_->List(place_.folder()));
  items_in_tables_ = true;
  bool has_chunks = false;
  for (const FolderEntry& entry : entries) {
    if (!IsCheckpointFileName(entry.name)) continue;
    watch_.AddTotal(entry.size);
    if (entry.name == kItemsFile) items_in_tables_ = false;
    if (entry.name == kChunksFile) has_chunks = true;
  }
  if (has_chunks) return OkStatus();
  return DataLossError(place_.folder() + " has no file " + kChunksFile);
}

Result<std::unique_ptr<RecordReader>> Loader::OpenFile(const std::string& path) {
  Result<std::unique_ptr<RecordReader>> reader = RecordReader::Open(files_, path);
  if (reader.ok() || reader.status().code() != StatusCode::kNotFound) return reader;
  return DataLossError(reader.status().message());
}

Status Loader::CheckEnd(const RecordReader& reader, const std::string& path,
                        const ManifestFile* expected) {
  watch_.FinishFile(reader.file_bytes());
  if (expected != nullptr && (reader.file_size() != expected->num_bytes ||
                              reader.num_records() != expected->num_records)) {
    return DataLossError(path + " has " + std::to_string(reader.num_records()) + " records in " +
                         std::to_string(reader.file_size()) + " bytes; the manifest says " +
                         std::to_string(expected->num_records) + " in " +
                         std::to_string(expected->num_bytes));
  }
  // Files of one checkpoint are compressed alike. Of the two, only an empty file can look whole.
  if (zlib_ && !reader.is_zlib()) {
    return DataLossError(path + " is not compressed, as the file of tables is: it was cut off at " +
                         "its beginning, or is of another checkpoint");
  }
  return OkStatus();
}

Status Loader::ReadTables() {
  const std::string path = JoinPath(place_.folder(), kTablesFile);
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, OpenFile(path));
  zlib_ = reader->is_zlib();
  std::string_view record;
  while (true) {
    REVERB_TF_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    Result<wire::TableRecord> parsed = wire::ParseTableRecord(record);
    if (!parsed.ok()) return reader->Damage(parsed.status().message());
    const std::string& name = parsed->table.options.name;
    if (!table_numbers_.emplace(name, tables_.size()).second) {
      return reader->Damage("the table '" + name + "' comes twice");
    }
    if (!items_in_tables_ && !parsed->old_items.empty()) {
      return InvalidArgumentError(place_.folder() + " has items in two forms: table '" + name +
                                  "' has some of its own, and there is a file " + kItemsFile);
    }
    tables_.push_back(std::move(parsed->table));
    num_items_.push_back(0);
    for (const std::string& item : parsed->old_items) {
      REVERB_TF_RETURN_IF_ERROR(AddItem(item, *reader));
    }
  }
  if (tables_.empty()) return DataLossError(path + " has no table");
  for (size_t i = 0; items_in_tables_ && i < tables_.size(); ++i) {
    if (num_items_[i] > 0 || tables_[i].inserts <= tables_[i].deletes) continue;
    return DataLossError(place_.folder() + " has no file " + kItemsFile + ", and table '" +
                         tables_[i].options.name + "' has no items of its own, but had some");
  }
  return CheckEnd(*reader, path, manifest_.tables.name.empty() ? nullptr : &manifest_.tables);
}

Status Loader::AddItem(std::string_view bytes, const RecordReader& reader) {
  Result<wire::ItemOutline> outline = wire::ReadItemOutline(bytes);
  if (!outline.ok()) return reader.Damage(outline.status().message());
  const auto table = table_numbers_.find(outline->table);
  if (table == table_numbers_.end()) {
    return reader.Damage("it is an item of table '" + outline->table +
                         "', which the checkpoint does not have");
  }
  ++num_items_[table->second];
  items_.push_back({item_bytes_.size(), bytes.size(), reader.num_records() - 1, reader.start(),
                    outline->old_form});
  item_bytes_.append(bytes);
  for (const uint64_t key : outline->chunk_keys) {
    needed_.Insert(key, static_cast<uint32_t>(needed_.size()));
  }
  return watch_.Update(reader.file_bytes());
}

Status Loader::ReadItems() {
  if (items_in_tables_) return OkStatus();
  const std::string path = JoinPath(place_.folder(), kItemsFile);
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, OpenFile(path));
  std::string_view record;
  while (true) {
    REVERB_TF_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    REVERB_TF_RETURN_IF_ERROR(AddItem(record, *reader));
  }
  return CheckEnd(*reader, path, manifest_.items.name.empty() ? nullptr : &manifest_.items);
}

Status Loader::ReadChunks() {
  chunks_.resize(needed_.size());
  if (place_.format == CheckpointFormat::kIncremental) return Finish(ReadSegments());
  return Finish(ReadChunkFile(JoinPath(place_.folder(), kChunksFile), 0));
}

Status Loader::ReadSegments() {
  stored_.chunks.reserve(needed_.size());
  // The last one first: of chunks with one key, its chunk counts.
  for (size_t i = manifest_.segments.size(); i-- > 0;) {
    REVERB_TF_RETURN_IF_ERROR(ReadChunkFile(JoinPath(place_.root, manifest_.segments[i].name), i));
  }
  return OkStatus();
}

Status Loader::ReadChunkFile(const std::string& path, size_t segment) {
  const bool is_segment = place_.format == CheckpointFormat::kIncremental;
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, OpenFile(path));
  std::string_view record;
  while (true) {
    REVERB_TF_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    if (is_segment && reader->num_records() == 1) {
      if (record != kSegmentMark) return reader->Damage("the mark of a segment is missing");
      continue;
    }
    REVERB_TF_RETURN_IF_ERROR(ReadChunk(record, *reader, segment));
    REVERB_TF_RETURN_IF_ERROR(watch_.Update(reader->file_bytes()));
  }
  return CheckEnd(*reader, path, is_segment ? &manifest_.segments[segment] : nullptr);
}

Status Loader::ReadChunk(std::string_view record, const RecordReader& reader, size_t segment) {
  uint64_t key;
  if (!ReadChunkKey(record, &key)) return reader.Damage("not a ChunkData message");
  const uint32_t* const number = needed_.Find(key);
  if (number == nullptr || chunks_[*number]) return OkStatus();
  core::ChunkRef& chunk = chunks_[*number];
  Result<core::ChunkRef> parsed = wire::ParseChunk(record);
  if (!parsed.ok()) return reader.Damage(parsed.status().message());
  chunk = *std::move(parsed);
  // A chunk in an old form has other bytes now.
  if (place_.format == CheckpointFormat::kIncremental && chunk->num_bytes() == record.size()) {
    stored_.Add(key, {static_cast<uint32_t>(segment), static_cast<uint32_t>(record.size()),
                      reader.crc(), chunk->serial()});
  }
  return OkStatus();
}

Status Loader::ParseItem(const RawItem& raw) {
  const wire::ChunkLookup lookup = [this](uint64_t key) {
    const uint32_t* const number = needed_.Find(key);
    return number == nullptr ? core::ChunkRef() : chunks_[*number];
  };
  std::string_view bytes = std::string_view(item_bytes_).substr(raw.begin, raw.size);
  std::string rewritten;
  if (raw.old_form) {
    REVERB_TF_ASSIGN_OR_RETURN(rewritten, wire::RewriteOldItem(bytes, lookup));
    bytes = rewritten;
  }
  REVERB_TF_ASSIGN_OR_RETURN(wire::ParsedItem parsed, wire::ParseItem(wire::Cursor(bytes), lookup));
  tables_[table_numbers_.at(parsed.table)].items.push_back(
      {parsed.item.key, parsed.item.priority, parsed.inserted_at_nanos, parsed.item.times_sampled,
       std::move(parsed.item.trajectory)});
  return OkStatus();
}

Result<std::vector<core::TableSnapshot>> Loader::TakeTables() {
  const std::string path = JoinPath(place_.folder(), items_in_tables_ ? kTablesFile : kItemsFile);
  for (size_t i = 0; i < tables_.size(); ++i) {
    tables_[i].items.reserve(static_cast<size_t>(num_items_[i]));
  }
  for (const RawItem& raw : items_) {
    REVERB_TF_RETURN_IF_ERROR(watch_.Update(0));
    const Status status = ParseItem(raw);
    if (status.ok()) continue;
    return Finish(DataLossError(path + ": record " + std::to_string(raw.record) + " at byte " +
                                std::to_string(raw.start) + ": " + status.message()));
  }
  for (core::TableSnapshot& table : tables_) {
    std::stable_sort(table.items.begin(), table.items.end(), [](const auto& a, const auto& b) {
      return a.inserted_at_nanos < b.inserted_at_nanos;
    });
  }
  return std::move(tables_);
}

}  // namespace reverb_tf::checkpoint
