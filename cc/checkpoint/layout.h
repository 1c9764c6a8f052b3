// Names of what a folder of checkpoints has in it.
//
//   ROOT/2026-11-30T13:04:40.245+00:00/   one checkpoint, complete when it has DONE:
//       tables.tfrecord items.tfrecord    settings and counters; items
//       chunks.tfrecord                   format kReverb: all chunks
//       MANIFEST                          format kIncremental: which files, how long
//       DONE
//   ROOT/chunks-2026-11-30T13:04:40.245+00:00-0.tfrecord
//                                         format kIncremental: a segment, chunks of several
//                                         checkpoints
//   ROOT/.tmp-...                         what is being written or removed
#ifndef REVERB_TF_CHECKPOINT_LAYOUT_H_
#define REVERB_TF_CHECKPOINT_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace reverb_tf::checkpoint {

inline constexpr char kTablesFile[] = "tables.tfrecord";
inline constexpr char kItemsFile[] = "items.tfrecord";
inline constexpr char kChunksFile[] = "chunks.tfrecord";
inline constexpr char kManifestFile[] = "MANIFEST";
inline constexpr char kDoneFile[] = "DONE";
inline constexpr char kTemporaryPrefix[] = ".tmp-";
inline constexpr char kRemovedPrefix[] = ".tmp-old-";
// The first record of a segment.
inline constexpr std::string_view kSegmentMark = "reverb_tf chunks, version 1";

// RFC 3339 in local time, without trailing zeros of the fraction:
// "2026-11-30T13:04:40.245281494+00:00". With one offset from UTC, names sort by time.
std::string TimestampName(int64_t wall_nanos);
bool IsTimestampName(std::string_view name);
// A nanosecond later; sorts behind `name`, which is a timestamp name.
std::string NextTimestampName(const std::string& name);

// The n-th segment that the checkpoint of this name has written.
std::string SegmentName(const std::string& checkpoint, int64_t n);
bool IsSegmentName(std::string_view name);

// Of a file of a checkpoint's folder.
bool IsCheckpointFileName(std::string_view name);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_LAYOUT_H_
