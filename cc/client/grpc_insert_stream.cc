#include "cc/client/grpc_insert_stream.h"

namespace reverb_tf::client {

void GrpcInsertStream::Write(InsertBatch batch) {
  for (const core::ChunkRef& chunk : batch.chunks) writer_.AddChunk(chunk);
  for (const OutgoingItem& item : batch.items) writer_.AddItem(*item.table, item.item);
  for (uint64_t key : batch.keep_chunk_keys) writer_.AddKeepChunkKey(key);
  SendMessage(writer_.Finish());
}

void GrpcInsertStream::HandleMessage(const grpc::ByteBuffer& message) {
  keys_.clear();
  Status status = wire::ParseInsertResponse(message, &keys_);
  if (!status.ok()) return Abort(status.WithContext("Malformed answer of the server"));
  observer_->OnConfirmed(keys_.data(), keys_.size());
}

void GrpcInsertStream::HandleEnd(const Status& status) {
  std::exchange(observer_, nullptr)
      ->OnClosed(status.ok() ? UnavailableError("The server ended the stream.") : status);
}

}  // namespace reverb_tf::client
