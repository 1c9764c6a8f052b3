// Which checkpoints there are.
#ifndef REVERB_TF_CHECKPOINT_CATALOG_H_
#define REVERB_TF_CHECKPOINT_CATALOG_H_

#include <string>
#include <vector>

#include "cc/checkpoint/file_system.h"
#include "reverb_tf/checkpoint.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// A complete checkpoint: ROOT/NAME.
struct Place {
  std::string root;
  std::string name;
  CheckpointFormat format = CheckpointFormat::kIncremental;
  bool is_link = false;  // found by a link in the root
  std::string folder() const { return JoinPath(root, name); }
};

// The complete checkpoints of a folder, newest first, at the end those whose names are not times;
// other things in it are passed over. NOT_FOUND when the folder is missing.
Result<std::vector<Place>> ListCheckpoints(FileSystem* files, const std::string& root);

// The checkpoint that `path` is, or the newest complete one in it. NOT_FOUND: none, or no folder.
// FAILED_PRECONDITION: a checkpoint that was not finished.
Result<Place> FindCheckpoint(FileSystem* files, const std::string& path);

// `path`, or what it is a checkpoint in: where checkpoints are to be written.
std::string RootOf(FileSystem* files, const std::string& path);

// "; other complete checkpoints: A, B", or that there is none.
std::string OtherCheckpoints(FileSystem* files, const Place& damaged);

// Whether this library has written the checkpoint and nothing but it is in its folder: it may be
// removed. Looks at names and at what files begin with.
bool IsOurCheckpoint(FileSystem* files, const Place& place);
// The same of a segment, or of one that is not complete.
bool IsOurSegment(FileSystem* files, const std::string& path);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_CATALOG_H_
