#include "cc/checkpoint/store.h"

#include <algorithm>

#include "cc/checkpoint/crc32c.h"
#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/record_writer.h"
#include "cc/checkpoint/retention.h"
#include "cc/wire/item_codec.h"
#include "cc/wire/table_record.h"

namespace reverb_tf::checkpoint {
namespace {

using Framing = RecordWriter::Framing;

Status CheckInterrupted(const std::function<bool()>& interrupted) {
  if (!interrupted || !interrupted()) return OkStatus();
  return CancelledError("writing the checkpoint was interrupted");
}

Result<std::unique_ptr<RecordWriter>> CreateFile(FileSystem* files, const std::string& path,
                                                 Framing framing) {
  REVERB_TF_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files->Create(path));
  return std::make_unique<RecordWriter>(std::move(file), framing);
}

ManifestFile Describe(std::string name, const RecordWriter& writer) {
  return {std::move(name), writer.num_bytes(), writer.num_records()};
}

Status WriteItems(const core::TableSnapshot& table, RecordWriter* writer,
                  const std::function<bool()>& interrupted) {
  std::string record;
  for (const core::TableSnapshot::Item& item : table.items) {
    wire::ItemView view;
    view.key = item.key;
    view.table = table.options.name;
    view.priority = item.priority;
    view.times_sampled = std::min(item.times_sampled, wire::kMaxTimesSampled);
    view.inserted_at_nanos = item.inserted_at_nanos;
    view.trajectory = item.trajectory.get();
    const wire::ItemWriter item_writer(view);
    record.resize(item_writer.size());
    item_writer.Write(record.data());
    REVERB_TF_RETURN_IF_ERROR(writer->Write(record));
    REVERB_TF_RETURN_IF_ERROR(CheckInterrupted(interrupted));
  }
  return OkStatus();
}

// What a save that has failed leaves, as far as it can be removed.
void RemoveRemains(FileSystem* files, const std::string& root, const std::string& name) {
  RemoveLeftovers(files, root).IgnoreError();
  const Result<std::vector<FolderEntry>> entries = files->List(root);
  if (!entries.ok()) return;
  const std::string own = SegmentName(name, 0);
  const std::string prefix = own.substr(0, own.rfind('-') + 1);
  for (const FolderEntry& entry : *entries) {
    if (!IsSegmentName(entry.name) || entry.name.compare(0, prefix.size(), prefix) != 0) continue;
    files->RemoveFile(JoinPath(root, entry.name)).IgnoreError();
  }
}

}  // namespace

Store::Store(std::string root, StoreOptions options)
    : root_(std::move(root)), options_(std::move(options)) {}

std::string Store::TemporaryPath(const std::string& name) const {
  return JoinPath(root_, kTemporaryPrefix + name);
}

Result<std::string> Store::Save(std::vector<core::TableSnapshot> tables,
                                const std::function<bool()>& interrupted) {
  FileSystem* const files = options_.files;
  REVERB_TF_RETURN_IF_ERROR(files->MakeFolder(root_));
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock, files->Lock(root_));
  REVERB_TF_RETURN_IF_ERROR(RemoveLeftovers(files, root_));
  REVERB_TF_RETURN_IF_ERROR(CheckSegments());
  ChunkSet chunks;
  REVERB_TF_RETURN_IF_ERROR(chunks.Add(&tables));
  REVERB_TF_ASSIGN_OR_RETURN(const std::string name, NewName());
  bool is_there = false;
  const Status status = WriteCheckpoint(name, tables, chunks, interrupted, &is_there);
  if (!status.ok()) {
    if (!is_there) RemoveRemains(files, root_, name);
    return status;
  }
  const Status removed = RemoveOld(files, root_, options_.keep);
  if (!removed.ok() && options_.warn) {
    options_.warn("an old checkpoint could not be removed: " + removed.message());
  }
  return JoinPath(root_, name);
}

Result<std::string> Store::NewName() const {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, options_.files->List(root_));
  std::string newest;
  for (const FolderEntry& entry : entries) {
    if (IsTimestampName(entry.name)) newest = std::max(newest, entry.name);
  }
  std::string name = TimestampName(options_.clock->WallNanos());
  return name > newest ? name : NextTimestampName(newest);
}

Status Store::CheckSegments() {
  if (stored_.segments.empty()) return OkStatus();
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, options_.files->List(root_));
  for (ManifestFile& segment : stored_.segments) {
    const auto there = std::find_if(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
      return entry.name == segment.name && entry.size == segment.num_bytes;
    });
    // Chunks in a segment of no name count as not stored.
    if (there == entries.end()) segment.name.clear();
  }
  return OkStatus();
}

Status Store::WriteCheckpoint(const std::string& name,
                              const std::vector<core::TableSnapshot>& tables,
                              const ChunkSet& chunks, const Interrupted& interrupted,
                              bool* is_there) {
  FileSystem* const files = options_.files;
  StoredChunks next;
  if (options_.format == CheckpointFormat::kIncremental) {
    REVERB_TF_RETURN_IF_ERROR(WriteSegments(name, chunks, interrupted, &next));
  }
  const std::string folder = TemporaryPath(name);
  Manifest manifest;
  manifest.segments = next.segments;
  REVERB_TF_RETURN_IF_ERROR(WriteFolder(folder, tables, chunks, interrupted, std::move(manifest)));
  REVERB_TF_RETURN_IF_ERROR(files->Rename(folder, JoinPath(root_, name)));
  // From here on it is what would be loaded, so that its segments must stay, even if it cannot be
  // said that it would outlast a crash of the machine.
  *is_there = true;
  stored_ = std::move(next);
  return files->SyncFolder(root_);
}

bool Store::FindStored(const core::Chunk& chunk, StoredChunk* stored) const {
  const StoredChunk* const found = stored_.Find(chunk.key());
  if (found == nullptr || found->size != chunk.num_bytes() ||
      stored_.segments[found->segment].name.empty()) {
    return false;
  }
  if (found->serial != chunk.serial() && found->crc != Crc32c(chunk.bytes())) return false;
  *stored = *found;
  stored->serial = chunk.serial();
  return true;
}

std::vector<const core::Chunk*> Store::FindMissing(const ChunkSet& chunks,
                                                   StoredChunks* next) const {
  std::vector<int64_t> needed_bytes(stored_.segments.size());
  std::vector<const core::Chunk*> missing;
  std::vector<std::pair<const core::Chunk*, StoredChunk>> found;
  for (const core::Chunk* chunk : chunks.chunks()) {
    StoredChunk stored;
    if (!FindStored(*chunk, &stored)) {
      missing.push_back(chunk);
      continue;
    }
    needed_bytes[stored.segment] += stored.size + kRecordFrameBytes;
    found.emplace_back(chunk, stored);
  }
  // A segment of which less than half is needed is given up; its chunks are written again.
  constexpr uint32_t kGivenUp = 0xffffffff;
  std::vector<uint32_t> numbers(stored_.segments.size(), kGivenUp);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (needed_bytes[i] == 0 || 2 * needed_bytes[i] < stored_.segments[i].num_bytes) continue;
    numbers[i] = static_cast<uint32_t>(next->segments.size());
    next->segments.push_back(stored_.segments[i]);
  }
  for (auto& [chunk, stored] : found) {
    stored.segment = numbers[stored.segment];
    if (stored.segment == kGivenUp) {
      missing.push_back(chunk);
    } else {
      next->Add(chunk->key(), stored);
    }
  }
  return missing;
}

Status Store::WriteSegments(const std::string& name, const ChunkSet& chunks,
                            const Interrupted& interrupted, StoredChunks* next) {
  FileSystem* const files = options_.files;
  next->chunks.reserve(chunks.chunks().size());
  const std::vector<const core::Chunk*> missing = FindMissing(chunks, next);
  size_t i = 0;
  for (int64_t n = 0; i < missing.size(); ++n) {
    const std::string segment = SegmentName(name, n);
    REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordWriter> writer,
                               CreateFile(files, TemporaryPath(segment), Framing::kPlain));
    REVERB_TF_RETURN_IF_ERROR(writer->Write(kSegmentMark));
    const auto number = static_cast<uint32_t>(next->segments.size());
    for (; i < missing.size() && writer->num_bytes() < options_.max_segment_bytes; ++i) {
      const core::Chunk& chunk = *missing[i];
      StoredChunk stored = {number, static_cast<uint32_t>(chunk.num_bytes()), 0, chunk.serial()};
      REVERB_TF_RETURN_IF_ERROR(writer->Write(chunk.bytes(), &stored.crc));
      next->Add(chunk.key(), stored);
      REVERB_TF_RETURN_IF_ERROR(CheckInterrupted(interrupted));
    }
    REVERB_TF_RETURN_IF_ERROR(writer->Finish());
    REVERB_TF_RETURN_IF_ERROR(files->Rename(TemporaryPath(segment), JoinPath(root_, segment)));
    next->segments.push_back(Describe(segment, *writer));
  }
  return i == 0 ? OkStatus() : files->SyncFolder(root_);
}

Status Store::WriteFolder(const std::string& folder, const std::vector<core::TableSnapshot>& tables,
                          const ChunkSet& chunks, const Interrupted& interrupted,
                          Manifest manifest) {
  FileSystem* const files = options_.files;
  const bool incremental = options_.format == CheckpointFormat::kIncremental;
  const Framing framing = incremental ? Framing::kPlain : Framing::kZlib;
  REVERB_TF_RETURN_IF_ERROR(files->MakeFolder(folder));
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordWriter> table_writer,
                             CreateFile(files, JoinPath(folder, kTablesFile), framing));
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordWriter> item_writer,
                             CreateFile(files, JoinPath(folder, kItemsFile), framing));
  for (const core::TableSnapshot& table : tables) {
    REVERB_TF_RETURN_IF_ERROR(table_writer->Write(wire::SerializeTableRecord(table)));
    REVERB_TF_RETURN_IF_ERROR(WriteItems(table, item_writer.get(), interrupted));
  }
  REVERB_TF_RETURN_IF_ERROR(table_writer->Finish());
  REVERB_TF_RETURN_IF_ERROR(item_writer->Finish());
  if (incremental) {
    manifest.tables = Describe(kTablesFile, *table_writer);
    manifest.items = Describe(kItemsFile, *item_writer);
    REVERB_TF_RETURN_IF_ERROR(
        WriteWholeFile(files, JoinPath(folder, kManifestFile), SerializeManifest(manifest)));
  } else {
    REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<RecordWriter> writer,
                               CreateFile(files, JoinPath(folder, kChunksFile), framing));
    for (const core::Chunk* chunk : chunks.chunks()) {
      REVERB_TF_RETURN_IF_ERROR(writer->Write(chunk->bytes()));
      REVERB_TF_RETURN_IF_ERROR(CheckInterrupted(interrupted));
    }
    REVERB_TF_RETURN_IF_ERROR(writer->Finish());
  }
  REVERB_TF_RETURN_IF_ERROR(WriteWholeFile(files, JoinPath(folder, kDoneFile), ""));
  return files->SyncFolder(folder);
}

}  // namespace reverb_tf::checkpoint
