#include "cc/checkpoint/retention.h"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cc/checkpoint/catalog.h"
#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/manifest.h"

namespace reverb_tf::checkpoint {
namespace {

// Keeps the first error.
void Note(Status status, Status* first) {
  if (first->ok()) *first = std::move(status);
}

// A folder of files of a checkpoint; anything else in it, and it stays.
Status RemoveCheckpointFolder(FileSystem* files, const std::string& folder) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files->List(folder));
  for (const FolderEntry& entry : entries) {
    if (!IsCheckpointFileName(entry.name) || entry.is_folder) return OkStatus();
  }
  for (const FolderEntry& entry : entries) {
    REVERB_TF_RETURN_IF_ERROR(files->RemoveFile(JoinPath(folder, entry.name)));
  }
  return files->RemoveFolder(folder);
}

// What follows the prefix; empty when the name has another one.
std::string_view After(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : "";
}

Status RemoveLeftover(FileSystem* files, const std::string& root, const FolderEntry& entry) {
  const std::string path = JoinPath(root, entry.name);
  const std::string_view rest = After(entry.name, kTemporaryPrefix);
  if (rest.empty() || entry.is_link) return OkStatus();
  if (entry.is_folder) {
    const bool ours = IsTimestampName(rest) || IsTimestampName(After(entry.name, kRemovedPrefix));
    return ours ? RemoveCheckpointFolder(files, path) : OkStatus();
  }
  return IsSegmentName(rest) && IsOurSegment(files, path) ? files->RemoveFile(path) : OkStatus();
}

Status RemoveOldCheckpoints(FileSystem* files, const std::string& root, int64_t keep) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<Place> places, ListCheckpoints(files, root));
  Status first;
  for (const Place& place : places) {
    if (!IsOurCheckpoint(files, place)) continue;
    if (keep-- > 0) continue;
    // Renamed first: one that is removed by half is not to be found.
    const std::string removed = JoinPath(root, kRemovedPrefix + place.name);
    Status status = files->Rename(place.folder(), removed);
    if (status.ok()) status = RemoveCheckpointFolder(files, removed);
    Note(std::move(status), &first);
  }
  return first;
}

Status RemoveUnusedSegments(FileSystem* files, const std::string& root) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<Place> places, ListCheckpoints(files, root));
  std::set<std::string> used;
  for (const Place& place : places) {
    if (place.format != CheckpointFormat::kIncremental) continue;
    REVERB_TF_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(files, place.folder()));
    for (const ManifestFile& segment : manifest.segments) used.insert(segment.name);
  }
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files->List(root));
  Status first;
  for (const FolderEntry& entry : entries) {
    const std::string path = JoinPath(root, entry.name);
    if (!IsSegmentName(entry.name) || entry.is_folder || entry.is_link ||
        used.count(entry.name) > 0 || !IsOurSegment(files, path)) {
      continue;
    }
    Note(files->RemoveFile(path), &first);
  }
  return first;
}

}  // namespace

Status RemoveLeftovers(FileSystem* files, const std::string& root) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files->List(root));
  Status first;
  for (const FolderEntry& entry : entries) Note(RemoveLeftover(files, root, entry), &first);
  return first;
}

Status RemoveOld(FileSystem* files, const std::string& root, int64_t keep) {
  Status first = RemoveOldCheckpoints(files, root, keep);
  Note(RemoveUnusedSegments(files, root), &first);
  return first;
}

}  // namespace reverb_tf::checkpoint
