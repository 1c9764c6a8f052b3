#include "cc/client/local_transport.h"

#include <utility>

#include "cc/client/local_insert_stream.h"
#include "cc/client/local_sample_stream.h"
#include "cc/wire/table_info.h"

namespace reverb_tf::client {
namespace {

class LocalTransport : public Transport {
 public:
  LocalTransport(std::string address, std::shared_ptr<const core::LocalServer> server,
                 core::Clock* clock, bool await_successor)
      : address_(std::move(address)),
        server_(std::move(server)),
        clock_(clock),
        await_successor_(await_successor) {}

  std::shared_ptr<InsertStream> OpenInsertStream(
      std::shared_ptr<InsertStreamObserver> observer) override {
    return MakeLocalInsertStream(server_, std::move(observer));
  }

  std::shared_ptr<SampleStream> OpenSampleStream(
      const SampleStreamOptions& options, std::shared_ptr<SampleStreamObserver> observer) override {
    return MakeLocalSampleStream(server_, options.table, std::move(observer), clock_);
  }

  CancelFunction GetServerInfo(std::function<void(Result<ServerInfo>)> callback) override {
    ServerInfo info;
    info.state_id_high = server_->state_id_high;
    info.state_id_low = server_->state_id_low;
    for (const std::shared_ptr<core::Table>& table : server_->tables) {
      info.tables.push_back(wire::SerializeTableInfo(table->Info()));
    }
    callback(std::move(info));
    return [] {};
  }

  CancelFunction Mutate(const std::string& table, const std::vector<core::PriorityUpdate>& updates,
                        const std::vector<uint64_t>& deletes,
                        std::function<void(Status)> callback) override {
    return Call(table, callback, [&](core::Table* found) {
      return found->Mutate(updates.data(), updates.size(), deletes.data(), deletes.size());
    });
  }

  CancelFunction Reset(const std::string& table, std::function<void(Status)> callback) override {
    return Call(table, callback, [](core::Table* found) { return found->Reset(); });
  }

  CancelFunction Get(
      const std::string& table, const std::vector<uint64_t>& keys,
      std::function<void(Result<std::vector<core::SampledItem>>)> callback) override {
    return Call(table, callback,
                [&](core::Table* found) { return found->Get(keys.data(), keys.size()); });
  }

  CancelFunction ListItems(const std::string& table, uint64_t start, int32_t max_items,
                           std::function<void(Result<ItemPage>)> callback) override {
    return Call(table, callback, [&](core::Table* found) { return found->List(start, max_items); });
  }

  CancelFunction Delete(const std::string& table, const std::vector<uint64_t>& keys,
                        std::function<void(Result<int64_t>)> callback) override {
    return Call(table, callback, [&](core::Table* found) -> Result<int64_t> {
      int64_t num_deleted = 0;
      REVERB_TF_RETURN_IF_ERROR(found->Mutate(nullptr, 0, keys.data(), keys.size(), &num_deleted));
      return num_deleted;
    });
  }

  CancelFunction SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                std::function<void(Status)> callback) override {
    return Call(table, callback,
                [&](core::Table* found) { return found->SetRateLimiter(options); });
  }

  CancelFunction Checkpoint(std::function<void(Result<std::string>)> callback) override {
    if (!server_->checkpoint) {
      callback(core::NoCheckpointerError());
      return [] {};
    }
    server_->checkpoint(std::move(callback));
    return [] {};
  }

  bool holds_chunks() const override { return false; }

  bool IsTransient(const Status& status) const override {
    if (status.code() != StatusCode::kCancelled) return false;
    if (await_successor_) return true;
    const auto successor = core::LocalRegistry::Global()->Find(address_);
    return successor != nullptr && successor != server_;
  }

 private:
  // Calls back at once.
  template <typename R, typename Operation>
  CancelFunction Call(const std::string& table, const std::function<void(R)>& callback,
                      Operation operation) {
    const std::shared_ptr<core::Table> found = server_->Find(table);
    callback(found == nullptr ? R(TableNotFoundError(table)) : R(operation(found.get())));
    return [] {};
  }

  const std::string address_;
  const std::shared_ptr<const core::LocalServer> server_;
  core::Clock* const clock_;
  const bool await_successor_;
};

}  // namespace

std::shared_ptr<Transport> MakeLocalTransport(std::string address,
                                              std::shared_ptr<const core::LocalServer> server,
                                              core::Clock* clock, bool await_successor) {
  return std::make_shared<LocalTransport>(std::move(address), std::move(server), clock,
                                          await_successor);
}

}  // namespace reverb_tf::client
