#include "cc/server/get_items_reactor.h"

#include <algorithm>
#include <utility>

#include "cc/server/grpc_status.h"
#include "cc/server/proto_message.h"
#include "cc/wire/messages.h"
#include "proto/reverb_service.pb.h"

namespace reverb_tf::server {
namespace {

// Their chunks are kept, most of them without a copy, until they are written.
constexpr size_t kKeysAtOnce = 64;

}  // namespace

GetItemsReactor* GetItemsReactor::Start(std::shared_ptr<const ServedTables> tables,
                                        const grpc::ByteBuffer& request) {
  auto* const reactor = new GetItemsReactor(std::move(tables));
  const Status status = reactor->Parse(request);
  if (status.ok()) {
    reactor->WriteOrFinish();
  } else {
    reactor->Finish(ToGrpcStatus(status));
  }
  return reactor;
}

Status GetItemsReactor::Parse(const grpc::ByteBuffer& request) {
  REVERB_TF_ASSIGN_OR_RETURN(const auto message,
                             ParseMessage<deepmind::reverb::GetItemsRequest>(request));
  REVERB_TF_ASSIGN_OR_RETURN(table_, tables_->Find(message.table()));
  keys_.assign(message.keys().begin(), message.keys().end());
  return OkStatus();
}

Status GetItemsReactor::MakeResponses() {
  while (responses_.empty() && next_ < keys_.size()) {
    const size_t n = std::min(kKeysAtOnce, keys_.size() - next_);
    REVERB_TF_ASSIGN_OR_RETURN(const std::vector<core::SampledItem> items,
                               table_->Get(keys_.data() + next_, n));
    next_ += n;
    std::vector<grpc::ByteBuffer> full;
    wire::SampleResponseWriter writer;
    for (const core::SampledItem& item : items) writer.AddSample(table_->name(), item, &full);
    if (!writer.empty()) full.push_back(writer.Finish());
    for (grpc::ByteBuffer& response : full) responses_.push_back(std::move(response));
  }
  return OkStatus();
}

void GetItemsReactor::WriteOrFinish() {
  const Status status = MakeResponses();
  if (responses_.empty()) {
    Finish(ToGrpcStatus(status));
  } else {
    StartWrite(&responses_.front());
  }
}

void GetItemsReactor::OnWriteDone(bool ok) {
  if (!ok) return Finish(ToGrpcStatus(CancelledError("the call was cancelled")));
  responses_.pop_front();
  WriteOrFinish();
}

}  // namespace reverb_tf::server
