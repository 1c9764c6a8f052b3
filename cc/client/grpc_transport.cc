#include "cc/client/grpc_transport.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <utility>

#include "cc/client/grpc_channel.h"
#include "cc/client/grpc_get_stream.h"
#include "cc/client/grpc_insert_stream.h"
#include "cc/client/grpc_sample_stream.h"
#include "cc/client/grpc_status.h"
#include "cc/wire/item_page.h"
#include "cc/wire/mutate_request.h"
#include "proto/reverb_service.grpc.pb.h"

namespace reverb_tf::client {
namespace {

namespace pb = ::deepmind::reverb;

// One unary call.
template <typename Response>
class UnaryCall : public std::enable_shared_from_this<UnaryCall<Response>> {
 public:
  explicit UnaryCall(std::shared_ptr<GrpcChannel> channel) : channel_(std::move(channel)) {}

  // `prepare` makes the call, of the context and the queue that it is given. The callback comes
  // once; the call lives until then.
  template <typename Prepare>
  void Start(const Prepare& prepare,
             std::function<void(const grpc::Status&, const Response&)> callback) {
    self_ = this->shared_from_this();
    callback_ = std::move(callback);
    call_ = prepare(&context_, channel_->queue());
    call_->StartCall();
    call_->Finish(&response_, &status_, finished_.tag());
  }
  void Cancel() { context_.TryCancel(); }

 private:
  void OnFinished() {
    callback_(status_, response_);
    const std::shared_ptr<UnaryCall> last = std::move(self_);
  }

  const std::shared_ptr<GrpcChannel> channel_;  // goes after the context
  grpc::ClientContext context_;                 // goes after the call
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> call_;
  Response response_;
  grpc::Status status_;
  std::function<void(const grpc::Status&, const Response&)> callback_;
  const GrpcEvent finished_{[this](bool) { OnFinished(); }};
  std::shared_ptr<UnaryCall> self_;
};

ServerInfo ToServerInfo(const pb::ServerInfoResponse& response) {
  ServerInfo info;
  info.state_id_high = response.tables_state_id().high();
  info.state_id_low = response.tables_state_id().low();
  info.tables.reserve(response.table_info_size());
  for (const pb::TableInfo& table : response.table_info()) {
    info.tables.push_back(table.SerializeAsString());
  }
  return info;
}

class GrpcTransport : public Transport {
 public:
  explicit GrpcTransport(const std::string& address)
      : channel_(std::make_shared<GrpcChannel>(address)),
        bytes_(channel_->get()),
        stub_(channel_->get()) {}

  std::shared_ptr<InsertStream> OpenInsertStream(
      std::shared_ptr<InsertStreamObserver> observer) override {
    auto stream = std::make_shared<GrpcInsertStream>(std::move(observer));
    stream->Start(channel_, &bytes_, "/deepmind.reverb.ReverbService/InsertStream");
    return stream;
  }

  std::shared_ptr<SampleStream> OpenSampleStream(
      const SampleStreamOptions& options, std::shared_ptr<SampleStreamObserver> observer) override {
    auto stream = std::make_shared<GrpcSampleStream>(options, std::move(observer));
    stream->Start(channel_, &bytes_, "/deepmind.reverb.ReverbService/SampleStream");
    return stream;
  }

  CancelFunction GetServerInfo(std::function<void(Result<ServerInfo>)> callback) override {
    return Unary(&Stub::PrepareAsyncServerInfo, pb::ServerInfoRequest(), std::move(callback),
                 ToServerInfo);
  }

  CancelFunction Mutate(const std::string& table, const std::vector<core::PriorityUpdate>& updates,
                        const std::vector<uint64_t>& deletes,
                        std::function<void(Status)> callback) override {
    const grpc::ByteBuffer request = wire::SerializeMutateRequest(
        table, updates.data(), updates.size(), deletes.data(), deletes.size());
    return Start<grpc::ByteBuffer>(
        [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
          return bytes_.PrepareUnaryCall(context, "/deepmind.reverb.ReverbService/MutatePriorities",
                                         request, queue);
        },
        [callback = std::move(callback)](const grpc::Status& status, const grpc::ByteBuffer&) {
          callback(FromGrpcStatus(status));
        });
  }

  CancelFunction Reset(const std::string& table, std::function<void(Status)> callback) override {
    pb::ResetRequest request;
    request.set_table(table);
    return Unary(&Stub::PrepareAsyncReset, request, std::move(callback),
                 [](const pb::ResetResponse&) { return OkStatus(); });
  }

  CancelFunction Get(
      const std::string& table, const std::vector<uint64_t>& keys,
      std::function<void(Result<std::vector<core::SampledItem>>)> callback) override {
    pb::GetItemsRequest request;
    request.set_table(table);
    request.mutable_keys()->Add(keys.begin(), keys.end());
    grpc::Slice slice(request.SerializeAsString());
    auto stream = std::make_shared<GrpcGetStream>(keys.size(), std::move(callback));
    stream->Start(channel_, &bytes_, "/deepmind.reverb.ReverbService/GetItems");
    stream->SendMessage(grpc::ByteBuffer(&slice, 1), /*last=*/true);
    return [weak = std::weak_ptr<GrpcStream>(stream)] {
      if (const std::shared_ptr<GrpcStream> stream = weak.lock()) stream->Abort();
    };
  }

  CancelFunction ListItems(const std::string& table, uint64_t start, int32_t max_items,
                           std::function<void(Result<ItemPage>)> callback) override {
    pb::ListItemsRequest request;
    request.set_table(table);
    request.set_start(start);
    request.set_max_items(max_items);
    return Unary(&Stub::PrepareAsyncListItems, request, std::move(callback),
                 [start](const pb::ListItemsResponse& response) {
                   return wire::ReadItemPage(response, start);
                 });
  }

  CancelFunction Delete(const std::string& table, const std::vector<uint64_t>& keys,
                        std::function<void(Result<int64_t>)> callback) override {
    pb::DeleteItemsRequest request;
    request.set_table(table);
    request.mutable_keys()->Add(keys.begin(), keys.end());
    return Unary(&Stub::PrepareAsyncDeleteItems, request, std::move(callback),
                 [](const pb::DeleteItemsResponse& response) { return response.num_deleted(); });
  }

  CancelFunction SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                std::function<void(Status)> callback) override {
    pb::SetRateLimiterRequest request;
    request.set_table(table);
    request.set_samples_per_insert(options.samples_per_insert);
    request.set_min_size_to_sample(options.min_size_to_sample);
    request.set_min_diff(options.min_diff);
    request.set_max_diff(options.max_diff);
    return Unary(&Stub::PrepareAsyncSetRateLimiter, request, std::move(callback),
                 [](const pb::SetRateLimiterResponse&) { return OkStatus(); });
  }

  CancelFunction Checkpoint(std::function<void(Result<std::string>)> callback) override {
    return Unary(&Stub::PrepareAsyncCheckpoint, pb::CheckpointRequest(), std::move(callback),
                 [](const pb::CheckpointResponse& response) { return response.checkpoint_path(); });
  }

  bool holds_chunks() const override { return true; }

  bool IsTransient(const Status& status) const override {
    return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kCancelled;
  }

 private:
  using Stub = pb::ReverbService::Stub;

  template <typename Response, typename Prepare, typename Callback>
  CancelFunction Start(const Prepare& prepare, Callback callback) {
    auto call = std::make_shared<UnaryCall<Response>>(channel_);
    call->Start(prepare, std::move(callback));
    return [weak = std::weak_ptr<UnaryCall<Response>>(call)] {
      if (const auto call = weak.lock()) call->Cancel();
    };
  }

  // Calls a method of the stub; `convert` makes the callback's argument of the response.
  template <typename Request, typename Response, typename R, typename Convert>
  CancelFunction Unary(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*method)(
                           grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
                       const Request& request, std::function<void(R)> callback, Convert convert) {
    return Start<Response>(
        [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
          return (stub_.*method)(context, request, queue);
        },
        [callback = std::move(callback), convert = std::move(convert)](const grpc::Status& status,
                                                                       const Response& response) {
          callback(status.ok() ? R(convert(response)) : R(FromGrpcStatus(status)));
        });
  }

  const std::shared_ptr<GrpcChannel> channel_;  // goes after the stubs
  ByteStub bytes_;
  pb::ReverbService::Stub stub_;
};

}  // namespace

std::shared_ptr<Transport> MakeGrpcTransport(const std::string& address) {
  return std::make_shared<GrpcTransport>(address);
}

}  // namespace reverb_tf::client
