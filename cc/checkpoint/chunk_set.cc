#include "cc/checkpoint/chunk_set.h"

#include <string>
#include <utility>

#include "cc/core/random.h"
#include "cc/wire/chunk_codec.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::checkpoint {
namespace {

constexpr int kChunkKeyField = 1;

core::ChunkRef RefTo(const core::Chunk* chunk) {
  chunk->Ref();
  return core::ChunkRef::Adopt(chunk);
}

// The same chunk under another key: of a field that comes twice, the last one counts.
Result<core::ChunkRef> CopyWithKey(const core::Chunk& chunk, uint64_t key) {
  std::string bytes(chunk.bytes());
  char field[1 + wire::kMaxVarintSize];
  const char* const end = wire::WriteVarintField(field, kChunkKeyField, key);
  bytes.append(field, static_cast<size_t>(end - field));
  return wire::ParseChunk(bytes);
}

}  // namespace

Status ChunkSet::Add(std::vector<core::TableSnapshot>* tables) {
  for (core::TableSnapshot& table : *tables) {
    for (core::TableSnapshot::Item& item : table.items) {
      REVERB_TF_RETURN_IF_ERROR(AddTrajectory(&item.trajectory));
    }
  }
  return OkStatus();
}

Status ChunkSet::AddTrajectory(core::TrajectoryRef* trajectory) {
  const core::Trajectory& old = **trajectory;
  bool replaced = false;
  for (int i = 0; i < old.num_chunks(); ++i) {
    REVERB_TF_ASSIGN_OR_RETURN(const core::Chunk* const chunk, Canonical(*old.chunk(i)));
    replaced |= chunk->key() != old.chunk(i)->key();
  }
  if (!replaced) return OkStatus();
  std::vector<core::ChunkRef> chunks;
  for (int i = 0; i < old.num_chunks(); ++i) {
    REVERB_TF_ASSIGN_OR_RETURN(const core::Chunk* const chunk, Canonical(*old.chunk(i)));
    chunks.push_back(chunk->key() == old.chunk(i)->key() ? old.chunk(i) : RefTo(chunk));
  }
  std::vector<core::Column> columns;
  for (int i = 0; i < old.num_columns(); ++i) columns.push_back(old.column(i));
  std::vector<core::ChunkSlice> slices;
  for (int i = 0; i < old.num_slices(); ++i) slices.push_back(old.slice(i));
  REVERB_TF_ASSIGN_OR_RETURN(*trajectory,
                             core::Trajectory::Create(std::move(chunks), columns, slices));
  return OkStatus();
}

Result<const core::Chunk*> ChunkSet::Canonical(const core::Chunk& chunk) {
  const auto [number, added] = numbers_.Insert(chunk.key(), static_cast<uint32_t>(chunks_.size()));
  if (!added) {
    const core::Chunk& holder = *chunks_[*number];
    return holder.serial() == chunk.serial() ? &chunk : Resolve(chunk, holder);
  }
  chunks_.push_back(&chunk);
  num_bytes_ += static_cast<int64_t>(chunk.num_bytes());
  return &chunk;
}

Result<const core::Chunk*> ChunkSet::Resolve(const core::Chunk& chunk, const core::Chunk& holder) {
  const core::Chunk*& resolved = doubles_[chunk.serial()];
  if (resolved != nullptr) return resolved;
  if (chunk.bytes() == holder.bytes()) {  // a client has sent it again
    resolved = &holder;
    return resolved;
  }
  core::Random random{std::nullopt};
  uint64_t key = random.Next();
  while (key == 0 || numbers_.Find(key) != nullptr) key = random.Next();
  REVERB_TF_ASSIGN_OR_RETURN(core::ChunkRef copy, CopyWithKey(chunk, key));
  resolved = copy.get();
  copies_.push_back(std::move(copy));
  REVERB_TF_RETURN_IF_ERROR(Canonical(*resolved).status());
  return resolved;
}

}  // namespace reverb_tf::checkpoint
