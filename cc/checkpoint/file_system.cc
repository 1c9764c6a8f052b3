#include "cc/checkpoint/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace reverb_tf::checkpoint {
namespace {

// Written data goes to the disk in steps of so many bytes, while more is being prepared.
constexpr int64_t kWriteBackBytes = 16 << 20;

StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EFBIG:
      return StatusCode::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
      return StatusCode::kPermissionDenied;
    case EEXIST:
    case ENOTEMPTY:
      return StatusCode::kAlreadyExists;
    default:
      return StatusCode::kInternal;
  }
}

// Of the last system call.
Status SystemError(const char* what, const std::string& path) {
  const int error = errno;
  return {CodeOf(error), std::string("cannot ") + what + " " + path + ": " +
                             std::generic_category().message(error)};
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  int Close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

int OpenRetrying(const std::string& path, int flags) {
  while (true) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return SystemError("write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
      written_ += n;
    }
    if (written_ - started_ >= kWriteBackBytes) {
      // A hint; what it cannot do, Finish() does.
      ::sync_file_range(fd_.get(), started_, written_ - started_, SYNC_FILE_RANGE_WRITE);
      started_ = written_;
    }
    return OkStatus();
  }

  Status Finish() override {
    if (::fsync(fd_.get()) != 0) return SystemError("sync", path_);
    return fd_.Close() == 0 ? OkStatus() : SystemError("close", path_);
  }

 private:
  Descriptor fd_;
  const std::string path_;
  int64_t written_ = 0;
  int64_t started_ = 0;  // handed to the disk
};

class PosixReadableFile : public ReadableFile {
 public:
  PosixReadableFile(int fd, std::string path, int64_t size)
      : fd_(fd), path_(std::move(path)), size_(size) {}

  int64_t size() const override { return size_; }

  Result<size_t> Read(char* out, size_t n) override {
    while (true) {
      const ssize_t got = ::read(fd_.get(), out, n);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return SystemError("read", path_);
    }
  }

 private:
  Descriptor fd_;
  const std::string path_;
  const int64_t size_;
};

class PosixFolderLock : public FolderLock {
 public:
  explicit PosixFolderLock(int fd) : fd_(fd) {}
  // A forked child may have the descriptor too, so closing it would not be enough.
  ~PosixFolderLock() override { ::flock(fd_.get(), LOCK_UN); }

 private:
  Descriptor fd_;
};

class PosixFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    const int fd = OpenRetrying(path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0) return SystemError("create", path);
    return std::unique_ptr<WritableFile>(std::make_unique<PosixWritableFile>(fd, path));
  }

  Result<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    Descriptor fd(OpenRetrying(path, O_RDONLY));
    if (!fd.ok()) return SystemError("open", path);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return SystemError("look at", path);
    if (!S_ISREG(info.st_mode)) return InternalError("cannot read " + path + ": it is not a file");
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    return std::unique_ptr<ReadableFile>(
        std::make_unique<PosixReadableFile>(fd.Release(), path, info.st_size));
  }

  Status MakeFolder(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) == 0) return OkStatus();
    if (errno == ENOENT) {
      const size_t slash = path.find_last_of('/', path.find_last_not_of('/'));
      if (slash == std::string::npos || slash == 0) return SystemError("make the folder", path);
      REVERB_TF_RETURN_IF_ERROR(MakeFolder(path.substr(0, slash)));
      if (::mkdir(path.c_str(), 0777) == 0) return OkStatus();
    }
    if (errno != EEXIST) return SystemError("make the folder", path);
    struct stat info;
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return OkStatus();
    errno = EEXIST;
    return SystemError("make the folder", path);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? OkStatus()
                                                   : SystemError("rename", from + " to " + to);
  }

  Status SyncFolder(const std::string& path) override {
    Descriptor fd(OpenRetrying(path, O_RDONLY | O_DIRECTORY));
    if (!fd.ok()) return SystemError("open the folder", path);
    // Some file systems cannot sync folders and say so.
    if (::fsync(fd.get()) == 0 || errno == EINVAL) return OkStatus();
    return SystemError("sync the folder", path);
  }

  Status RemoveFile(const std::string& path) override {
    return ::unlink(path.c_str()) == 0 ? OkStatus() : SystemError("remove", path);
  }

  Status RemoveFolder(const std::string& path) override {
    return ::rmdir(path.c_str()) == 0 ? OkStatus() : SystemError("remove the folder", path);
  }

  Result<std::vector<FolderEntry>> List(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (folder == nullptr) return SystemError("list the folder", path);
    std::vector<FolderEntry> entries;
    while (true) {
      errno = 0;
      const dirent* const entry = ::readdir(folder.get());
      if (entry == nullptr) break;
      FolderEntry found;
      found.name = entry->d_name;
      if (found.name == "." || found.name == "..") continue;
      struct stat info;
      const std::string child = JoinPath(path, found.name);
      if (::lstat(child.c_str(), &info) != 0) continue;  // gone meanwhile
      found.is_link = S_ISLNK(info.st_mode);
      if (found.is_link && ::stat(child.c_str(), &info) != 0) continue;  // leads nowhere
      found.is_folder = S_ISDIR(info.st_mode);
      found.size = info.st_size;
      entries.push_back(std::move(found));
    }
    if (errno != 0) return SystemError("list the folder", path);
    std::sort(entries.begin(), entries.end(),
              [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
    return entries;
  }

  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    Descriptor fd(OpenRetrying(path, O_RDONLY | O_DIRECTORY));
    if (!fd.ok()) return SystemError("open the folder", path);
    // On a file system without locks, no two servers may share a folder.
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return UnavailableError("another process is writing a checkpoint in " + path);
    }
    return std::unique_ptr<FolderLock>(std::make_unique<PosixFolderLock>(fd.Release()));
  }
};

}  // namespace

FileSystem* FileSystem::Posix() {
  static FileSystem* const posix = new PosixFileSystem;
  return posix;
}

std::string JoinPath(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

Result<std::string> ReadWholeFile(FileSystem* files, const std::string& path, int64_t max_bytes) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, files->Open(path));
  if (file->size() > max_bytes) {
    return DataLossError(path + " has " + std::to_string(file->size()) + " bytes; at most " +
                         std::to_string(max_bytes) + " were expected");
  }
  std::string bytes(static_cast<size_t>(file->size()), '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    REVERB_TF_ASSIGN_OR_RETURN(const size_t n, file->Read(&bytes[size], bytes.size() - size));
    if (n == 0) break;
    size += n;
  }
  bytes.resize(size);
  return bytes;
}

Status WriteWholeFile(FileSystem* files, const std::string& path, std::string_view bytes) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files->Create(path));
  REVERB_TF_RETURN_IF_ERROR(file->Append(bytes));
  return file->Finish();
}

}  // namespace reverb_tf::checkpoint
