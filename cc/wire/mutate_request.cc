#include "cc/wire/mutate_request.h"

#include "cc/wire/message_pieces.h"
#include "cc/wire/slice_writer.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
namespace {

// KeyWithPriority: key = 1, priority = 2.
bool ReadUpdate(Cursor cursor, core::PriorityUpdate* update) {
  return ReadMessage(&cursor, [&](uint32_t field, WireType type) {
    switch (field) {
      case 1:
        return type == WireType::kVarint && cursor.ReadVarint(&update->key);
      case 2:
        return type == WireType::kFixed64 && cursor.ReadDouble(&update->priority);
      default:
        return cursor.SkipValue(type);
    }
  });
}

size_t UpdateSize(const core::PriorityUpdate& update) {
  return VarintFieldSize(update.key) + DoubleFieldSize(update.priority);
}

}  // namespace

Result<MutateRequest> ParseMutateRequest(const grpc::ByteBuffer& message) {
  MessagePieces pieces;
  if (!pieces.Reset(message)) {
    return ResourceExhaustedError("a MutatePrioritiesRequest could not be read");
  }
  MutateRequest request;
  Cursor cursor = pieces.cursor();
  const bool ok = ReadMessage(&cursor, [&](uint32_t field, WireType type) {
    Cursor value;
    switch (field) {
      case 1:
        if (type != WireType::kDelimited || !cursor.ReadDelimited(&value)) return false;
        request.table.resize(value.remaining());
        return value.Copy(request.table.data(), request.table.size());
      case 2: {
        core::PriorityUpdate update;
        if (type != WireType::kDelimited || !cursor.ReadDelimited(&value)) return false;
        if (!ReadUpdate(value, &update)) return false;
        request.updates.push_back(update);
        return true;
      }
      case 3:
        return ReadUint64s(&cursor, type, &request.deletes);
      default:
        return cursor.SkipValue(type);
    }
  });
  if (!ok || !IsUtf8(request.table)) {
    return InvalidArgumentError("a MutatePrioritiesRequest of " + std::to_string(message.Length()) +
                                " bytes is malformed or cut off");
  }
  return request;
}

grpc::ByteBuffer SerializeMutateRequest(const std::string& table,
                                        const core::PriorityUpdate* updates, size_t num_updates,
                                        const uint64_t* deletes, size_t num_deletes) {
  size_t size = DelimitedSize(table.size());
  for (size_t i = 0; i < num_updates; ++i) size += DelimitedSize(UpdateSize(updates[i]));
  size_t deletes_size = 0;
  for (size_t i = 0; i < num_deletes; ++i) deletes_size += VarintSize(deletes[i]);
  if (num_deletes > 0) size += DelimitedSize(deletes_size);

  SliceWriter writer;
  char* out = writer.Extend(size);
  out = WriteBytes(WriteDelimitedHeader(out, 1, table.size()), table);
  for (size_t i = 0; i < num_updates; ++i) {
    out = WriteDelimitedHeader(out, 2, UpdateSize(updates[i]));
    out = WriteVarintField(out, 1, updates[i].key);
    out = WriteDoubleField(out, 2, updates[i].priority);
  }
  if (num_deletes > 0) {
    out = WriteDelimitedHeader(out, 3, deletes_size);
    for (size_t i = 0; i < num_deletes; ++i) out = WriteVarint(out, deletes[i]);
  }
  return writer.Finish();
}

}  // namespace reverb_tf::wire
