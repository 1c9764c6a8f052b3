// The gRPC service: hands each call to its reactor, answers unary calls.
#ifndef REVERB_TF_SERVER_REVERB_SERVICE_H_
#define REVERB_TF_SERVER_REVERB_SERVICE_H_

#include <memory>
#include <utility>

#include "cc/core/clock.h"
#include "cc/server/served_tables.h"
#include "proto/reverb_service.grpc.pb.h"

namespace reverb_tf::server {

// Calls with bulk are raw: their messages are read and written by cc/wire.
using ReverbServiceBase = deepmind::reverb::ReverbService::WithRawCallbackMethod_InsertStream<
    deepmind::reverb::ReverbService::WithRawCallbackMethod_SampleStream<
        deepmind::reverb::ReverbService::WithCallbackMethod_Checkpoint<
            deepmind::reverb::ReverbService::WithRawCallbackMethod_MutatePriorities<
                deepmind::reverb::ReverbService::WithCallbackMethod_Reset<
                    deepmind::reverb::ReverbService::WithCallbackMethod_ServerInfo<
                        deepmind::reverb::ReverbService::WithCallbackMethod_InitializeConnection<
                            deepmind::reverb::ReverbService::Service>>>>>>>;

// Thread-safe; nothing here blocks. Must outlive the gRPC server that it is registered with.
class ReverbService final : public ReverbServiceBase {
 public:
  // `clock` must outlive the service and its calls.
  ReverbService(std::shared_ptr<const ServedTables> tables, core::Clock* clock)
      : tables_(std::move(tables)), clock_(clock) {}

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
                                  const deepmind::reverb::ResetRequest* request,
                                  deepmind::reverb::ResetResponse* response) override;
  grpc::ServerUnaryReactor* ServerInfo(grpc::CallbackServerContext* context,
                                       const deepmind::reverb::ServerInfoRequest* request,
                                       deepmind::reverb::ServerInfoResponse* response) override;

 private:
  Status Mutate(const grpc::ByteBuffer& message) const;
  Status ResetTable(const std::string& name) const;

  const std::shared_ptr<const ServedTables> tables_;
  core::Clock* const clock_;
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_REVERB_SERVICE_H_
