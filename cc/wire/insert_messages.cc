#include <string>
#include <utility>

#include "cc/wire/chunk_codec.h"
#include "cc/wire/messages.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
Result<InsertRequestReader> InsertRequestReader::Parse(const grpc::ByteBuffer& message) {
  InsertRequestReader result;
  if (!result.pieces_.Reset(message)) {
    return ResourceExhaustedError("an InsertStreamRequest could not be read");
  }
  Status error;
  Cursor cursor = result.pieces_.cursor();
  const bool ok = ReadMessage(&cursor, [&](uint32_t field, WireType type) {
    Cursor value;
    switch (field) {
      case 1: {
        if (type != WireType::kDelimited || !cursor.ReadDelimited(&value)) return false;
        Result<core::ChunkRef> chunk = ParseChunk(value);
        if (!chunk.ok()) {
          error = chunk.status();
          return false;
        }
        result.chunks_.push_back(*std::move(chunk));
        return true;
      }
      case 2:
        if (type != WireType::kDelimited || !cursor.ReadDelimited(&value)) return false;
        result.items_.push_back(value);
        return true;
      case 3:
        return ReadUint64s(&cursor, type, &result.keep_chunk_keys_);
      default:
        return cursor.SkipValue(type);
    }
  });
  if (ok) return result;
  if (!error.ok()) return error;
  return InvalidArgumentError("an InsertStreamRequest of " + std::to_string(message.Length()) +
                              " bytes is malformed or cut off");
}

Result<ParsedItem> InsertRequestReader::ParseItem(size_t i, const ChunkLookup& lookup) const {
  return wire::ParseItem(items_[i], lookup);
}

void InsertRequestWriter::AddChunk(const core::ChunkRef& chunk) {
  const size_t size = chunk->num_bytes();
  WriteDelimitedHeader(writer_.Extend(1 + VarintSize(size)), 1, size);
  writer_.AddChunkBytes(chunk);
}

void InsertRequestWriter::AddItem(const std::string& table, const core::NewItem& item) {
  ItemView view;
  view.key = item.key;
  view.table = table;
  view.priority = item.priority;
  view.times_sampled = item.times_sampled;
  view.trajectory = item.trajectory.get();
  const ItemWriter item_writer(view);
  char* out = writer_.Extend(DelimitedSize(item_writer.size()));
  item_writer.Write(WriteDelimitedHeader(out, 2, item_writer.size()));
}

void InsertRequestWriter::AddKeepChunkKey(uint64_t key) {
  // Unlike VarintFieldSize, a zero counts: every key must be listed.
  char* out = writer_.Extend(1 + VarintSize(key));
  WriteVarint(WriteTag(out, 3, WireType::kVarint), key);
}

grpc::ByteBuffer SerializeInsertResponse(const uint64_t* keys, size_t n) {
  size_t size = 0;
  for (size_t i = 0; i < n; ++i) size += VarintSize(keys[i]);
  SliceWriter writer;
  char* out = WriteDelimitedHeader(writer.Extend(DelimitedSize(size)), 1, size);
  for (size_t i = 0; i < n; ++i) out = WriteVarint(out, keys[i]);
  return writer.Finish();
}

Status ParseInsertResponse(const grpc::ByteBuffer& message, std::vector<uint64_t>* keys) {
  MessagePieces pieces;
  if (!pieces.Reset(message)) {
    return ResourceExhaustedError("an InsertStreamResponse could not be read");
  }
  Cursor cursor = pieces.cursor();
  if (ReadMessage(&cursor, [&](uint32_t field, WireType type) {
        return field == 1 ? ReadUint64s(&cursor, type, keys) : cursor.SkipValue(type);
      })) {
    return OkStatus();
  }
  return InvalidArgumentError("an InsertStreamResponse of " + std::to_string(message.Length()) +
                              " bytes is malformed or cut off");
}

}  // namespace reverb_tf::wire
