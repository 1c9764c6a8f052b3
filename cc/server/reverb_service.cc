#include "cc/server/reverb_service.h"

#include <string>

#include "cc/server/grpc_status.h"
#include "cc/server/initialize_connection_reactor.h"
#include "cc/server/insert_stream_reactor.h"
#include "cc/server/sample_stream_reactor.h"
#include "cc/wire/mutate_request.h"
#include "cc/wire/table_info.h"

namespace reverb_tf::server {
namespace {

grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context, const Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ReverbService::InsertStream(
    grpc::CallbackServerContext*) {
  return InsertStreamReactor::Start(tables_);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ReverbService::SampleStream(
    grpc::CallbackServerContext*) {
  return SampleStreamReactor::Start(tables_, clock_);
}

grpc::ServerBidiReactor<deepmind::reverb::InitializeConnectionRequest,
                        deepmind::reverb::InitializeConnectionResponse>*
ReverbService::InitializeConnection(grpc::CallbackServerContext*) {
  return new InitializeConnectionReactor();
}

grpc::ServerUnaryReactor* ReverbService::Checkpoint(grpc::CallbackServerContext* context,
                                                    const deepmind::reverb::CheckpointRequest*,
                                                    deepmind::reverb::CheckpointResponse*) {
  return Finish(context, core::NoCheckpointerError());
}

grpc::ServerUnaryReactor* ReverbService::MutatePriorities(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  // A message without fields.
  *response = grpc::ByteBuffer(nullptr, 0);
  return Finish(context, Mutate(*request));
}

grpc::ServerUnaryReactor* ReverbService::Reset(grpc::CallbackServerContext* context,
                                               const deepmind::reverb::ResetRequest* request,
                                               deepmind::reverb::ResetResponse*) {
  return Finish(context, ResetTable(request->table()));
}

grpc::ServerUnaryReactor* ReverbService::ServerInfo(
    grpc::CallbackServerContext* context, const deepmind::reverb::ServerInfoRequest*,
    deepmind::reverb::ServerInfoResponse* response) {
  const core::LocalServer& server = tables_->server();
  response->mutable_tables_state_id()->set_high(server.state_id_high);
  response->mutable_tables_state_id()->set_low(server.state_id_low);
  for (const auto& table : server.tables) {
    wire::FillTableInfo(table->Info(), response->add_table_info());
  }
  return Finish(context, OkStatus());
}

Status ReverbService::Mutate(const grpc::ByteBuffer& message) const {
  REVERB_TF_ASSIGN_OR_RETURN(const wire::MutateRequest request, wire::ParseMutateRequest(message));
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(request.table));
  return table->Mutate(request.updates.data(), request.updates.size(), request.deletes.data(),
                       request.deletes.size());
}

Status ReverbService::ResetTable(const std::string& name) const {
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(name));
  return table->Reset();
}

}  // namespace reverb_tf::server
