#include "cc/checkpoint/catalog.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/manifest.h"
#include "cc/checkpoint/record_writer.h"

namespace reverb_tf::checkpoint {
namespace {

struct FolderLook {
  bool done = false;
  bool tables = false;
  bool manifest = false;
  bool other = false;  // has what no checkpoint has
};

Result<FolderLook> LookAt(FileSystem* files, const std::string& folder) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files->List(folder));
  FolderLook look;
  for (const FolderEntry& entry : entries) {
    look.done |= entry.name == kDoneFile;
    look.tables |= entry.name == kTablesFile;
    look.manifest |= entry.name == kManifestFile;
    look.other |= !IsCheckpointFileName(entry.name) || entry.is_folder || entry.is_link;
  }
  return look;
}

CheckpointFormat FormatOf(const FolderLook& look) {
  return look.manifest ? CheckpointFormat::kIncremental : CheckpointFormat::kReverb;
}

// The first bytes of a file, at most n; empty when it cannot be read.
std::string StartOf(FileSystem* files, const std::string& path, size_t n) {
  Result<std::unique_ptr<ReadableFile>> file = files->Open(path);
  if (!file.ok()) return "";
  std::string bytes(n, '\0');
  const Result<size_t> got = (*file)->Read(bytes.data(), n);
  bytes.resize(got.ok() ? *got : 0);
  return bytes;
}

Place PlaceOf(const std::string& folder, const FolderLook& look) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(folder, error);
  const std::filesystem::path path = error ? std::filesystem::path(folder) : whole;
  return {path.parent_path().string(), path.filename().string(), FormatOf(look), false};
}

}  // namespace

Result<std::vector<Place>> ListCheckpoints(FileSystem* files, const std::string& root) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files->List(root));
  std::vector<Place> places;
  for (const FolderEntry& entry : entries) {
    if (!entry.is_folder || entry.name.compare(0, 5, kTemporaryPrefix) == 0) continue;
    const Result<FolderLook> look = LookAt(files, JoinPath(root, entry.name));
    if (!look.ok() || !look->done || !look->tables) continue;
    places.push_back({root, entry.name, FormatOf(*look), entry.is_link});
  }
  std::reverse(places.begin(), places.end());
  std::stable_partition(places.begin(), places.end(),
                        [](const Place& place) { return IsTimestampName(place.name); });
  return places;
}

Result<Place> FindCheckpoint(FileSystem* files, const std::string& path) {
  const Result<FolderLook> look = LookAt(files, path);
  if (!look.ok()) {
    if (look.status().code() != StatusCode::kNotFound) return look.status();
    return NotFoundError("there is no checkpoint to load: the folder " + path + " does not exist");
  }
  if (look->tables && look->done) return PlaceOf(path, *look);
  if (look->tables) {
    return FailedPreconditionError("the checkpoint " + path +
                                   " was not finished: it has no file DONE");
  }
  REVERB_TF_ASSIGN_OR_RETURN(std::vector<Place> places, ListCheckpoints(files, path));
  if (!places.empty()) return places.front();
  return NotFoundError("there is no complete checkpoint in the folder " + path);
}

std::string RootOf(FileSystem* files, const std::string& path) {
  const Result<FolderLook> look = LookAt(files, path);
  return look.ok() && look->tables && look->done ? PlaceOf(path, *look).root : path;
}

std::string OtherCheckpoints(FileSystem* files, const Place& damaged) {
  const Result<std::vector<Place>> places = ListCheckpoints(files, damaged.root);
  std::string list;
  if (places.ok()) {
    for (const Place& place : *places) {
      if (place.name != damaged.name) list += (list.empty() ? "" : ", ") + place.folder();
    }
  }
  if (list.empty()) return "; there is no other complete checkpoint in " + damaged.root;
  return "; other complete checkpoints, which can be loaded by naming one as the path: " + list;
}

bool IsOurCheckpoint(FileSystem* files, const Place& place) {
  if (!IsTimestampName(place.name) || place.is_link) return false;
  const Result<FolderLook> look = LookAt(files, place.folder());
  if (!look.ok() || look->other) return false;
  if (look->manifest) {
    return IsManifest(StartOf(files, JoinPath(place.folder(), kManifestFile), 64));
  }
  return StartOf(files, JoinPath(place.folder(), kTablesFile), kOurZlibStartSize) ==
         std::string_view(kOurZlibStart, kOurZlibStartSize);
}

bool IsOurSegment(FileSystem* files, const std::string& path) {
  constexpr size_t kRecordHeader = 12;
  const std::string start = StartOf(files, path, kRecordHeader + kSegmentMark.size());
  if (start.size() <= kRecordHeader) return start.empty();
  const std::string_view mark = std::string_view(start).substr(kRecordHeader);
  return mark == kSegmentMark.substr(0, mark.size());
}

}  // namespace reverb_tf::checkpoint
