#include "cc/client/writer_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cc/core/random.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::client {
namespace {

// A chunk is closed early when its steps are larger.
constexpr size_t kMaxChunkBytes = 64 << 20;
// With the steps before it, below the 2 GiB of a chunk.
constexpr size_t kMaxStepBytes = size_t{1900} << 20;
// Of chunks that came and went, kept until the next item.
constexpr size_t kMaxEvents = 256;

Status ValueError(int32_t i, const std::string& what) {
  return InvalidArgumentError("Array " + std::to_string(i) + " of the step " + what);
}

size_t Bytes(const TensorView& value) {
  if (value.dtype != DType::kString) return value.num_bytes();
  size_t bytes = 0;
  const auto* const strings = static_cast<const std::string_view*>(value.data);
  for (int64_t i = 0; i < value.num_elements(); ++i) bytes += strings[i].size() + 5;
  return bytes;
}

}  // namespace

Status CheckWriterOptions(const WriterOptions& options) {
  if (options.max_timesteps < 1) {
    return InvalidArgumentError("max_timesteps must be at least 1, but is " +
                                std::to_string(options.max_timesteps) + ".");
  }
  if (options.chunk_length < 1 || options.chunk_length > options.max_timesteps) {
    return InvalidArgumentError("chunk_length must be between 1 and max_timesteps = " +
                                std::to_string(options.max_timesteps) + ", but is " +
                                std::to_string(options.chunk_length) + ".");
  }
  if (options.max_in_flight_items < 1) {
    return InvalidArgumentError("max_in_flight_items must be at least 1, but is " +
                                std::to_string(options.max_in_flight_items) + ".");
  }
  return OkStatus();
}

WriterImpl::WriterImpl(std::shared_ptr<Endpoint> endpoint, const WriterOptions& options,
                       std::shared_ptr<SignatureCache> cache, SignaturesPtr signatures)
    : endpoint_(std::move(endpoint)),
      options_(options),
      session_(InsertSession::Create(endpoint_)),
      tables_(std::move(cache), std::move(signatures), session_.get()),
      episode_id_(core::Random(std::nullopt).Next()) {
  session_->LimitItems(options_.max_in_flight_items);
}

WriterImpl::~WriterImpl() {
  if (endpoint_->fork_guard().forked()) {
    new std::shared_ptr<InsertSession>(std::move(session_));
    return;
  }
  session_->Close();
}

Status WriterImpl::CheckAlive() const {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  return session_->status();
}

Status WriterImpl::CheckStep(const TensorView* values, int32_t n) const {
  if (n < 1) return InvalidArgumentError("Nothing to append: the step has no arrays.");
  if (!columns_.empty() && static_cast<size_t>(n) != columns_.size()) {
    return InvalidArgumentError("The step has " + std::to_string(n) +
                                " arrays, but the steps before it have " +
                                std::to_string(columns_.size()) + ".");
  }
  size_t bytes = 0;
  for (int32_t i = 0; i < n; ++i) {
    const TensorView& value = values[i];
    if (value.dtype == DType::kInvalid) return ValueError(i, "is missing.");
    bytes += Bytes(value);
    if (open_steps_ == 0 || columns_[i].Accepts(value)) continue;
    const WriterColumn& column = columns_[i];
    return ValueError(i,
                      "has (dtype, shape): " + DTypeAndShape(value.dtype, value.dims, value.rank) +
                          ", but the " + std::to_string(open_steps_) +
                          " before it in the same chunk have (dtype, shape): " +
                          DTypeAndShape(column.dtype(), column.dims(), column.rank()) + ".");
  }
  if (bytes <= kMaxStepBytes) return OkStatus();
  return InvalidArgumentError("The step has " + std::to_string(bytes) + " bytes, but at most " +
                              std::to_string(kMaxStepBytes) + " can be sent.");
}

size_t WriterImpl::OpenBytes() const {
  size_t bytes = 0;
  for (const WriterColumn& column : columns_) bytes += column.open_bytes();
  return bytes;
}

Status WriterImpl::WaitForChunk(int64_t steps, size_t bytes, const WaitOptions& wait) {
  if (drafts_.empty()) return OkStatus();
  const bool completes =
      open_steps_ + steps >= options_.chunk_length || OpenBytes() + bytes >= kMaxChunkBytes;
  if (!completes) return OkStatus();
  const auto drafts = static_cast<int64_t>(drafts_.size());
  return session_->WaitForConfirmations(std::max<int64_t>(options_.max_in_flight_items - drafts, 0),
                                        wait, "Append");
}

Status WriterImpl::Append(const TensorView* values, int32_t n, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  REVERB_TF_RETURN_IF_ERROR(CheckStep(values, n));
  if (!drafts_.empty()) {
    size_t bytes = 0;
    for (int32_t i = 0; i < n; ++i) bytes += Bytes(values[i]);
    REVERB_TF_RETURN_IF_ERROR(WaitForChunk(1, bytes, wait));
  }
  return AddStep(values, n);
}

Status WriterImpl::AppendSequence(const TensorView* values, int32_t n, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  std::vector<TensorView> rows(values, values + n);
  std::vector<size_t> strides;
  size_t bytes = 0;
  for (int32_t i = 0; i < n; ++i) {
    if (rows[i].rank < 1) {
      return ValueError(i, "is a scalar, but in a sequence it needs a leading axis.");
    }
    if (rows[i].dims[0] != values[0].dims[0]) {
      return ValueError(i, "has the shape " + ShapeString(values[i].dims, values[i].rank) +
                               ", but the leading axis of the first one has length " +
                               std::to_string(values[0].dims[0]) + ".");
    }
    --rows[i].rank;
    ++rows[i].dims;
    const size_t element =
        rows[i].dtype == DType::kString ? sizeof(std::string_view) : DTypeSize(rows[i].dtype);
    strides.push_back(static_cast<size_t>(rows[i].num_elements()) * element);
    bytes += Bytes(values[i]);
  }
  const int64_t steps = n < 1 ? 1 : values[0].dims[0];
  const auto next = [&] {
    for (int32_t i = 0; i < n; ++i) {
      rows[i].data = static_cast<const char*>(rows[i].data) + strides[i];
    }
  };
  std::vector<TensorView> first = rows;
  for (int64_t step = 0; step < steps; ++step, next()) {
    REVERB_TF_RETURN_IF_ERROR(CheckStep(rows.data(), n));
  }
  REVERB_TF_RETURN_IF_ERROR(WaitForChunk(steps, bytes, wait));
  rows.swap(first);
  for (int64_t step = 0; step < steps; ++step, next()) {
    REVERB_TF_RETURN_IF_ERROR(AddStep(rows.data(), n));
  }
  return OkStatus();
}

void WriterImpl::StartChunk(const TensorView* values, int32_t n) {
  ChunkerOptions options;
  options.num_keep_alive_refs = options_.max_timesteps;
  bool changed = false;
  for (int32_t i = static_cast<int32_t>(columns_.size()); i < n; ++i) {
    columns_.emplace_back(options);
    columns_.back().Define(values[i]);
  }
  advisors_.resize(n);
  for (int32_t i = 0; i < n; ++i) {
    if (columns_[i].Accepts(values[i])) continue;
    columns_[i] = WriterColumn(options);
    columns_[i].Define(values[i]);
    advisors_[i] = wire::CompressionAdvisor();
    changed = true;
  }
  if (changed) ++layout_;
  if (next_step_ > std::numeric_limits<int32_t>::max() - options_.chunk_length) {
    episode_id_ = core::Random(std::nullopt).Next();
    next_step_ = 0;
  }
}

Status WriterImpl::AddStep(const TensorView* values, int32_t n) {
  if (open_steps_ == 0) StartChunk(values, n);
  for (int32_t i = 0; i < n; ++i) columns_[i].AddRow(values[i], next_step_);
  ++next_step_;
  ++open_steps_;
  ++num_steps_;
  Status status;
  if (open_steps_ >= options_.chunk_length || OpenBytes() >= kMaxChunkBytes) {
    status = CloseChunk();
    if (status.ok()) return SendDrafts();
  }
  for (WriterColumn& column : columns_) column.CopyRows();
  return status;
}

Status WriterImpl::CloseChunk() {
  views_.clear();
  for (WriterColumn& column : columns_) views_.push_back(column.OpenView());
  core::Chunk::Header header;
  header.key = chunk_keys_.Key(chunks_made_++);
  header.episode_id = episode_id_;
  header.first_step = next_step_ - open_steps_;
  header.last_step = next_step_ - 1;
  header.num_rows = open_steps_;
  header.delta_encoded = options_.delta_encoded;
  REVERB_TF_ASSIGN_OR_RETURN(
      const core::ChunkRef chunk,
      wire::EncodeChunk(header, views_.data(), static_cast<int>(views_.size()), advisors_.data()));
  uncounted_bytes_ += chunk->memory_bytes();
  kept_.push_back({FirstOpenStep(), open_steps_, layout_, pool_.Add(chunk, 1)});
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (DraftItem& draft : drafts_) {
      draft.Resolve(static_cast<int32_t>(i), chunk, static_cast<int32_t>(i));
    }
    columns_[i].DropOpenRows();
  }
  open_steps_ = 0;
  while (kept_.front().first + kept_.front().num_steps <= num_steps_ - options_.max_timesteps) {
    pool_.Release(kept_.front().slot);
    kept_.pop_front();
  }
  if (pool_.events().size() > kMaxEvents) {
    session_->NoteChunks(pool_.events());
    pool_.ClearEvents();
  }
  return OkStatus();
}

Status WriterImpl::CheckSteps(int64_t num_timesteps) const {
  const auto refuse = [num_timesteps](const std::string& why) {
    return InvalidArgumentError("An item of " + std::to_string(num_timesteps) +
                                " steps cannot be made: " + why);
  };
  if (num_timesteps < 1) return refuse("it must have at least one.");
  if (num_timesteps > options_.max_timesteps) {
    return refuse("the writer keeps the newest " + std::to_string(options_.max_timesteps) + ".");
  }
  if (num_timesteps > num_steps_) {
    return refuse("only " + std::to_string(num_steps_) + " were appended.");
  }
  const int64_t first = num_steps_ - num_timesteps;
  if (first >= FirstOpenStep()) return OkStatus();
  // The newest chunk that begins at or before the step.
  auto chunk = kept_.end();
  do --chunk;
  while (chunk->first > first);
  if (chunk->layout == layout_) return OkStatus();
  return refuse("dtypes or shapes have changed between its first step and its last.");
}

Status WriterImpl::CheckSignature(const std::string& table, const TableSignature& signature,
                                  int64_t num_timesteps) {
  if (!signature.has_signature) return OkStatus();
  shapes_.clear();
  for (const WriterColumn& column : columns_) {
    ColumnShape shape = {column.dtype(), column.dims(), column.rank(), num_timesteps, false};
    // The signature's rank says whether it means a step or a sequence.
    const size_t i = shapes_.size();
    shape.squeezed = i < signature.leaves.size() &&
                     signature.leaves[i].AcceptsShape(column.dims(), column.rank());
    shapes_.push_back(shape);
  }
  return CheckItem(table, signature, shapes_);
}

void WriterImpl::Fill(int64_t num_timesteps, DraftItem* item) const {
  const int64_t first = num_steps_ - num_timesteps;
  auto begin = kept_.end();
  while (begin != kept_.begin() && std::prev(begin)->first + std::prev(begin)->num_steps > first) {
    --begin;
  }
  for (int32_t i = 0; i < static_cast<int32_t>(columns_.size()); ++i) {
    item->AddColumn(false);
    for (auto kept = begin; kept != kept_.end(); ++kept) {
      const int64_t offset = std::max<int64_t>(first - kept->first, 0);
      item->AddRows(pool_.chunk(kept->slot), i, offset, kept->num_steps - offset);
    }
    const int64_t offset = std::max<int64_t>(first - FirstOpenStep(), 0);
    if (open_steps_ > 0) item->AddOpenRows(i, offset, open_steps_ - offset);
  }
}

Result<uint64_t> WriterImpl::CreateItem(const std::string& table, int64_t num_timesteps,
                                        double priority, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  REVERB_TF_RETURN_IF_ERROR(CheckSteps(num_timesteps));
  if (std::isnan(priority)) {
    return InvalidArgumentError("The priority of an item for table '" + table + "' is NaN.");
  }
  REVERB_TF_ASSIGN_OR_RETURN(const ItemTables::Entry* const entry, tables_.Find(table, wait));
  if (entry->owner != nullptr) {
    REVERB_TF_RETURN_IF_ERROR(CheckSignature(table, *entry->signature, num_timesteps));
    REVERB_TF_RETURN_IF_ERROR(entry->owner->CheckPriority(table, priority));
  }
  if (open_steps_ == 0) REVERB_TF_RETURN_IF_ERROR(session_->WaitForRoom(wait));
  scratch_.Clear();
  scratch_.table = entry->name;
  scratch_.priority = priority;
  Fill(num_timesteps, &scratch_);
  const uint64_t key = session_->keys().Key(items_made_++);
  if (open_steps_ > 0) {
    drafts_.push_back(std::move(scratch_));
    return key;
  }
  REVERB_TF_RETURN_IF_ERROR(SendItem(scratch_));
  session_->Send();
  return key;
}

Status WriterImpl::SendDrafts() {
  if (drafts_.empty()) return OkStatus();
  for (const DraftItem& draft : drafts_) REVERB_TF_RETURN_IF_ERROR(SendItem(draft));
  drafts_.clear();
  session_->Send();
  return OkStatus();
}

Status WriterImpl::SendItem(const DraftItem& draft) {
  SessionItem item;
  item.table = draft.table;
  item.priority = draft.priority;
  REVERB_TF_ASSIGN_OR_RETURN(item.trajectory, draft.Finish(nullptr));
  item.bytes = std::min(std::exchange(uncounted_bytes_, 0), item.trajectory->chunk_bytes()) +
               64 * item.trajectory->num_slices();
  Result<uint64_t> key = session_->Add(std::move(item), pool_.events());
  pool_.ClearEvents();
  return key.ok() ? OkStatus() : key.status();
}

Status WriterImpl::Flush(const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  if (!drafts_.empty()) {
    REVERB_TF_RETURN_IF_ERROR(CloseChunk());
    REVERB_TF_RETURN_IF_ERROR(SendDrafts());
  }
  return session_->WaitForConfirmations(0, wait, "Flush");
}

Status WriterImpl::Close(bool retry_on_unavailable, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  const int64_t pending = session_->unconfirmed() + static_cast<int64_t>(drafts_.size());
  if (!retry_on_unavailable) session_->StopRetrying();
  const Status status = Flush(wait);
  const int64_t left = session_->unconfirmed();  // none once the session has failed
  session_->Close();
  if (status.ok()) return status;
  return status.WithContext("The writer is closed, but " +
                            std::to_string(left > 0 ? left : pending) +
                            " items were not confirmed and are given up");
}

}  // namespace reverb_tf::client
