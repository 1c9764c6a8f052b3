#include "cc/server/reverb_service.h"

#include "cc/server/get_items_reactor.h"
#include "cc/server/grpc_status.h"
#include "cc/server/initialize_connection_reactor.h"
#include "cc/server/insert_stream_reactor.h"
#include "cc/server/proto_message.h"
#include "cc/server/sample_stream_reactor.h"
#include "cc/wire/item_page.h"
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

template <typename Request, typename Response>
grpc::ServerUnaryReactor* ReverbService::Answer(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
    grpc::ByteBuffer* response, Status (ReverbService::*method)(const Request&, Response*) const) {
  Response answer;
  const Result<Request> parsed = ParseMessage<Request>(request);
  const Status status = parsed.ok() ? (this->*method)(*parsed, &answer) : parsed.status();
  *response = SerializeMessage(answer);
  return Finish(context, status);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ReverbService::InsertStream(
    grpc::CallbackServerContext*) {
  return InsertStreamReactor::Start(tables_, &streams_);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ReverbService::SampleStream(
    grpc::CallbackServerContext*) {
  return SampleStreamReactor::Start(tables_, clock_, &streams_);
}

grpc::ServerBidiReactor<deepmind::reverb::InitializeConnectionRequest,
                        deepmind::reverb::InitializeConnectionResponse>*
ReverbService::InitializeConnection(grpc::CallbackServerContext*) {
  return new InitializeConnectionReactor();
}

grpc::ServerUnaryReactor* ReverbService::Checkpoint(
    grpc::CallbackServerContext* context, const deepmind::reverb::CheckpointRequest*,
    deepmind::reverb::CheckpointResponse* response) {
  const core::LocalServer& server = tables_->server();
  if (!server.checkpoint) return Finish(context, core::NoCheckpointerError());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  // Both live until Finish().
  server.checkpoint([reactor, response](const Result<std::string>& path) {
    if (path.ok()) response->set_checkpoint_path(*path);
    reactor->Finish(ToGrpcStatus(path.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* ReverbService::MutatePriorities(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  // A message without fields.
  *response = grpc::ByteBuffer(nullptr, 0);
  return Finish(context, Mutate(*request));
}

grpc::ServerUnaryReactor* ReverbService::Reset(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) {
  return Answer(context, *request, response, &ReverbService::ResetTable);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ReverbService::GetItems(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request) {
  return GetItemsReactor::Start(tables_, *request);
}

grpc::ServerUnaryReactor* ReverbService::ListItems(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return Answer(context, *request, response, &ReverbService::List);
}

grpc::ServerUnaryReactor* ReverbService::DeleteItems(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return Answer(context, *request, response, &ReverbService::Delete);
}

grpc::ServerUnaryReactor* ReverbService::SetRateLimiter(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return Answer(context, *request, response, &ReverbService::SetLimiter);
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

Status ReverbService::ResetTable(const deepmind::reverb::ResetRequest& request,
                                 deepmind::reverb::ResetResponse*) const {
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(request.table()));
  return table->Reset();
}

Status ReverbService::List(const deepmind::reverb::ListItemsRequest& request,
                           deepmind::reverb::ListItemsResponse* response) const {
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(request.table()));
  REVERB_TF_ASSIGN_OR_RETURN(const ItemPage page,
                             table->List(request.start(), request.max_items()));
  wire::FillItemPage(page, response);
  return OkStatus();
}

Status ReverbService::Delete(const deepmind::reverb::DeleteItemsRequest& request,
                             deepmind::reverb::DeleteItemsResponse* response) const {
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(request.table()));
  int64_t num_deleted = 0;
  REVERB_TF_RETURN_IF_ERROR(table->Mutate(nullptr, 0, request.keys().data(),
                                          static_cast<size_t>(request.keys_size()), &num_deleted));
  response->set_num_deleted(num_deleted);
  return OkStatus();
}

Status ReverbService::SetLimiter(const deepmind::reverb::SetRateLimiterRequest& request,
                                 deepmind::reverb::SetRateLimiterResponse*) const {
  REVERB_TF_ASSIGN_OR_RETURN(core::Table * table, tables_->Find(request.table()));
  RateLimiterOptions options;
  options.samples_per_insert = request.samples_per_insert();
  options.min_size_to_sample = request.min_size_to_sample();
  options.min_diff = request.min_diff();
  options.max_diff = request.max_diff();
  return table->SetRateLimiter(options);
}

}  // namespace reverb_tf::server
