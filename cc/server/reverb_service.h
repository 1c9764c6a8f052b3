// The gRPC service: hands each call to its reactor, answers unary calls.
#ifndef REVERB_TF_SERVER_REVERB_SERVICE_H_
#define REVERB_TF_SERVER_REVERB_SERVICE_H_

#include <memory>
#include <utility>

#include "cc/core/clock.h"
#include "cc/server/open_streams.h"
#include "cc/server/served_tables.h"
#include "proto/reverb_service.grpc.pb.h"

namespace reverb_tf::server {

// The messages of raw calls are read and written here and by cc/wire.
using Generated = deepmind::reverb::ReverbService;
using ReverbServiceBase = Generated::WithRawCallbackMethod_InsertStream<
    Generated::WithRawCallbackMethod_SampleStream<Generated::WithCallbackMethod_Checkpoint<
        Generated::WithRawCallbackMethod_MutatePriorities<Generated::WithRawCallbackMethod_Reset<
            Generated::WithRawCallbackMethod_GetItems<Generated::WithRawCallbackMethod_ListItems<
                Generated::WithRawCallbackMethod_DeleteItems<
                    Generated::WithRawCallbackMethod_SetRateLimiter<
                        Generated::WithCallbackMethod_ServerInfo<
                            Generated::WithCallbackMethod_InitializeConnection<
                                Generated::Service>>>>>>>>>>>;

// Thread-safe; nothing here blocks. Must outlive the gRPC server that it is registered with.
class ReverbService final : public ReverbServiceBase {
 public:
  // `clock` must outlive the service and its calls.
  ReverbService(std::shared_ptr<const ServedTables> tables, core::Clock* clock)
      : tables_(std::move(tables)), clock_(clock) {}

  // For a server that stops: ends the streams that would go on, and those that come later. Blocks
  // until their clients were written to, or until the deadline.
  void EndStreams(core::TimePoint deadline) { streams_.EndAll(deadline); }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* InsertStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* SampleStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<deepmind::reverb::InitializeConnectionRequest,
                          deepmind::reverb::InitializeConnectionResponse>*
  InitializeConnection(grpc::CallbackServerContext* context) override;

  grpc::ServerUnaryReactor* Checkpoint(grpc::CallbackServerContext* context,
                                       const deepmind::reverb::CheckpointRequest* request,
                                       deepmind::reverb::CheckpointResponse* response) override;
  grpc::ServerUnaryReactor* MutatePriorities(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Reset(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* GetItems(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ListItems(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteItems(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SetRateLimiter(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ServerInfo(grpc::CallbackServerContext* context,
                                       const deepmind::reverb::ServerInfoRequest* request,
                                       deepmind::reverb::ServerInfoResponse* response) override;

 private:
  Status Mutate(const grpc::ByteBuffer& message) const;
  Status ResetTable(const deepmind::reverb::ResetRequest& request,
                    deepmind::reverb::ResetResponse* response) const;
  Status List(const deepmind::reverb::ListItemsRequest& request,
              deepmind::reverb::ListItemsResponse* response) const;
  Status Delete(const deepmind::reverb::DeleteItemsRequest& request,
                deepmind::reverb::DeleteItemsResponse* response) const;
  Status SetLimiter(const deepmind::reverb::SetRateLimiterRequest& request,
                    deepmind::reverb::SetRateLimiterResponse* response) const;
  // Parses the request, calls `method` and serializes its response.
  template <typename Request, typename Response>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer* response,
                                   Status (ReverbService::*method)(const Request&, Response*)
                                       const);

  const std::shared_ptr<const ServedTables> tables_;
  core::Clock* const clock_;
  OpenStreams streams_;
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_REVERB_SERVICE_H_
