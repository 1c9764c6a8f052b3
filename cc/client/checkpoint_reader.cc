#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/checkpoint/catalog.h"
#include "cc/checkpoint/loader.h"
#include "cc/client/sample_impl.h"
#include "cc/core/table_snapshot.h"
#include "reverb_tf/checkpoint.h"

namespace reverb_tf {
namespace client {
namespace {

using SharedTable = std::shared_ptr<const core::TableSnapshot>;

class ItemsImpl : public CheckpointReader::Items {
 public:
  explicit ItemsImpl(SharedTable table) : table_(std::move(table)) {}

  Result<Sample> Next() override {
    if (next_ == table_->items.size()) {
      return OutOfRangeError("all " + std::to_string(next_) + " items of table '" +
                             table_->options.name + "' have been read");
    }
    const core::TableSnapshot::Item& item = table_->items[next_++];
    core::SampledItem sample;
    sample.key = item.key;
    sample.priority = item.priority;
    sample.table_size = static_cast<int64_t>(table_->items.size());
    sample.inserted_at_nanos = item.inserted_at_nanos;
    sample.times_sampled = item.times_sampled;
    sample.trajectory = item.trajectory;
    return Sample(Sample::Impl::Create(std::move(sample)));
  }

 private:
  const SharedTable table_;
  size_t next_ = 0;
};

class ReaderImpl : public CheckpointReader {
 public:
  explicit ReaderImpl(std::unique_ptr<checkpoint::Loader> loader)
      : loader_(std::move(loader)), path_(loader_->place().folder()) {
    for (size_t i = 0; i < loader_->tables().size(); ++i) {
      const core::TableSnapshot& table = loader_->tables()[i];
      tables_.push_back({table.options, loader_->num_items(i), table.inserts, table.samples,
                         table.deletes, table.num_deleted_episodes, table.num_unique_samples});
    }
  }

  const std::string& path() const override { return path_; }
  CheckpointFormat format() const override { return loader_->place().format; }
  const std::vector<CheckpointTable>& tables() const override { return tables_; }
  int64_t num_bytes() const override { return loader_->num_bytes(); }

  Result<std::unique_ptr<Items>> ReadItems(const std::string& table) override {
    std::string names;
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (tables_[i].options.name == table) {
        REVERB_TF_RETURN_IF_ERROR(Load());
        return std::unique_ptr<Items>(std::make_unique<ItemsImpl>(loaded_[i]));
      }
      names += (names.empty() ? "'" : ", '") + tables_[i].options.name + "'";
    }
    return NotFoundError("the checkpoint " + path_ + " has no table '" + table + "'; it has " +
                         names);
  }

 private:
  // Once; an error stays.
  Status Load() {
    if (!loaded_.empty() || !load_error_.ok()) return load_error_;
    load_error_ = loader_->ReadChunks();
    if (!load_error_.ok()) return load_error_;
    Result<std::vector<core::TableSnapshot>> tables = loader_->TakeTables();
    load_error_ = tables.status();
    if (!tables.ok()) return load_error_;
    for (core::TableSnapshot& table : *tables) {
      loaded_.push_back(std::make_shared<const core::TableSnapshot>(std::move(table)));
    }
    return OkStatus();
  }

  const std::unique_ptr<checkpoint::Loader> loader_;
  const std::string path_;
  std::vector<CheckpointTable> tables_;
  std::vector<SharedTable> loaded_;
  Status load_error_;
};

}  // namespace
}  // namespace client

Result<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(
    const std::string& path, const CheckpointLoadOptions& options) {
  checkpoint::FileSystem* const files = checkpoint::FileSystem::Posix();
  REVERB_TF_ASSIGN_OR_RETURN(checkpoint::Place place, checkpoint::FindCheckpoint(files, path));
  auto loader = std::make_unique<checkpoint::Loader>(files, std::move(place), options);
  REVERB_TF_RETURN_IF_ERROR(loader->ReadTablesAndItems());
  return std::unique_ptr<CheckpointReader>(std::make_unique<client::ReaderImpl>(std::move(loader)));
}

}  // namespace reverb_tf
