// A file system that breaks at a chosen operation.
#ifndef REVERB_TF_CHECKPOINT_TESTING_FAULTY_FILES_H_
#define REVERB_TF_CHECKPOINT_TESTING_FAULTY_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cc/checkpoint/file_system.h"

namespace reverb_tf::checkpoint::testing {

// Every operation that changes the disk counts; the one at which it breaks happens not at all, by
// half (bytes that are written), or wholly, and is reported as failed like all that follow: as for
// a process that is killed then. For one thread.
class FaultyFiles : public FileSystem {
 public:
  enum class Fault { kBefore, kAfter };

  // Breaks at operation n, from 0; -1: never.
  void BreakAt(int64_t n, Fault fault) {
    breaks_at_ = n;
    fault_ = fault;
    count_ = 0;
    broken_ = false;
  }
  int64_t count() const { return count_; }
  bool broken() const { return broken_; }

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    std::unique_ptr<WritableFile> file;
    REVERB_TF_RETURN_IF_ERROR(Change([&]() -> Status {
      REVERB_TF_ASSIGN_OR_RETURN(file, files_->Create(path));
      return OkStatus();
    }));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(this, std::move(file)));
  }
  Result<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    return files_->Open(path);
  }
  Status MakeFolder(const std::string& path) override {
    return Change([&] { return files_->MakeFolder(path); });
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return Change([&] { return files_->Rename(from, to); });
  }
  Status SyncFolder(const std::string& path) override {
    return Change([&] { return files_->SyncFolder(path); });
  }
  Status RemoveFile(const std::string& path) override {
    return Change([&] { return files_->RemoveFile(path); });
  }
  Status RemoveFolder(const std::string& path) override {
    return Change([&] { return files_->RemoveFolder(path); });
  }
  Result<std::vector<FolderEntry>> List(const std::string& path) override {
    return files_->List(path);
  }
  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    return files_->Lock(path);
  }

 private:
  class File : public WritableFile {
   public:
    File(FaultyFiles* owner, std::unique_ptr<WritableFile> file)
        : owner_(owner), file_(std::move(file)) {}
    Status Append(std::string_view bytes) override {
      const Status status = owner_->Change([&] { return file_->Append(bytes); });
      if (!status.ok() && owner_->at_fault_ && owner_->fault_ == Fault::kBefore) {
        (void)file_->Append(bytes.substr(0, bytes.size() / 2));
      }
      return status;
    }
    Status Finish() override {
      return owner_->Change([&] { return file_->Finish(); });
    }

   private:
    FaultyFiles* const owner_;
    const std::unique_ptr<WritableFile> file_;
  };

  template <typename Operation>
  Status Change(Operation operation) {
    at_fault_ = !broken_ && count_ == breaks_at_;
    ++count_;
    if (broken_ || (at_fault_ && fault_ == Fault::kBefore)) {
      broken_ = true;
      return ResourceExhaustedError("cannot write: no space left on the device of the test");
    }
    const Status status = operation();
    if (!at_fault_) return status;
    broken_ = true;
    return InternalError("broken by the test");
  }

  FileSystem* const files_ = FileSystem::Posix();
  int64_t breaks_at_ = -1;
  Fault fault_ = Fault::kBefore;
  int64_t count_ = 0;
  bool broken_ = false;
  bool at_fault_ = false;
};

}  // namespace reverb_tf::checkpoint::testing

#endif  // REVERB_TF_CHECKPOINT_TESTING_FAULTY_FILES_H_
