// Files and folders, behind an interface so that tests can make any operation fail.
#ifndef REVERB_TF_CHECKPOINT_FILE_SYSTEM_H_
#define REVERB_TF_CHECKPOINT_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Not thread-safe. Destroyed without Finish(): closed, perhaps incomplete.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  // Everything is on the disk when this returns OK; the file is closed then.
  virtual Status Finish() = 0;
};

// Not thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Of the file when it was opened.
  virtual int64_t size() const = 0;
  // The next bytes, at most n; 0 at the end.
  virtual Result<size_t> Read(char* out, size_t n) = 0;
};

// Released when destroyed.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

struct FolderEntry {
  std::string name;
  bool is_folder = false;  // of what a link leads to
  bool is_link = false;
  int64_t size = 0;
};

// Thread-safe. Errors name the path and the system's reason: NOT_FOUND for what is not there,
// RESOURCE_EXHAUSTED for a full disk, PERMISSION_DENIED, ALREADY_EXISTS, else INTERNAL.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Must not exist.
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<ReadableFile>> Open(const std::string& path) = 0;
  // With all folders above; fine when it exists.
  virtual Status MakeFolder(const std::string& path) = 0;
  // `to` must not exist, except as an empty folder.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // What was created, renamed and removed in the folder is on the disk afterwards.
  virtual Status SyncFolder(const std::string& path) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  // Must be empty.
  virtual Status RemoveFolder(const std::string& path) = 0;
  // By name, without "." and "..".
  virtual Result<std::vector<FolderEntry>> List(const std::string& path) = 0;
  // For this process alone; UNAVAILABLE while another one has it.
  virtual Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) = 0;

  // That of the machine. Never destroyed.
  static FileSystem* Posix();
};

// "a/b"; `folder` may end with a slash.
std::string JoinPath(const std::string& folder, const std::string& name);
// The whole file, at most `max_bytes` of it (else DATA_LOSS).
Result<std::string> ReadWholeFile(FileSystem* files, const std::string& path, int64_t max_bytes);
// Creates the file with the bytes, on the disk.
Status WriteWholeFile(FileSystem* files, const std::string& path, std::string_view bytes);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_FILE_SYSTEM_H_
