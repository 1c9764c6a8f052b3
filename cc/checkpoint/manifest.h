// The MANIFEST of a checkpoint in the incremental format.
#ifndef REVERB_TF_CHECKPOINT_MANIFEST_H_
#define REVERB_TF_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cc/checkpoint/file_system.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// As long as this, or the checkpoint is damaged.
struct ManifestFile {
  std::string name;
  int64_t num_bytes = 0;
  int64_t num_records = 0;
};

// Written as lines of text with a checksum at the end:
//
//   reverb_tf checkpoint, version 1
//   tables tables.tfrecord 240 1
//   items items.tfrecord 8800 100
//   segment chunks-2026-11-30T13:04:40.245+00:00-0.tfrecord 16400 101
//   checksum 89abcdef
struct Manifest {
  ManifestFile tables;
  ManifestFile items;
  // In the order in which they were written, in the root folder. Of chunks with one key, the one in
  // the last segment counts.
  std::vector<ManifestFile> segments;
};

std::string SerializeManifest(const Manifest& manifest);
// DATA_LOSS says what is wrong; UNIMPLEMENTED: of a later version.
Result<Manifest> ParseManifest(std::string_view text);
// True for what begins like a manifest of any version.
bool IsManifest(std::string_view text);
// The same from the file of a checkpoint's folder; errors name the file.
Result<Manifest> ReadManifest(FileSystem* files, const std::string& folder);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_MANIFEST_H_
