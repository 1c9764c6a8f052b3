#include "cc/client/trajectory_writer_impl.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cc/core/random.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::client {
namespace {

// With the rows before it, below the 2 GiB of a chunk.
constexpr size_t kMaxRowBytes = size_t{1900} << 20;
// Of chunks that came and went, kept until the next item.
constexpr size_t kMaxEvents = 256;
// A column that none of so many items used gets chunks of its own, so that items do not carry it.
constexpr int64_t kItemsUntilUnused = 64;

Status ColumnError(const std::string& what, int32_t column, const std::string& rest) {
  return InvalidArgumentError(what + " provided for column " + std::to_string(column) + ". Got " +
                              rest + ".");
}

}  // namespace

Status CheckChunkerOptions(const ChunkerOptions& options) {
  if (options.num_keep_alive_refs < 1) {
    return InvalidArgumentError("num_keep_alive_refs must be at least 1, but is " +
                                std::to_string(options.num_keep_alive_refs) + ".");
  }
  if (options.max_chunk_length < 0 || options.max_chunk_length > options.num_keep_alive_refs) {
    return InvalidArgumentError("max_chunk_length must be between 1 and num_keep_alive_refs = " +
                                std::to_string(options.num_keep_alive_refs) +
                                " (or 0: automatic), but is " +
                                std::to_string(options.max_chunk_length) + ".");
  }
  return OkStatus();
}

TrajectoryWriterImpl::TrajectoryWriterImpl(std::shared_ptr<Endpoint> endpoint,
                                           const TrajectoryWriterOptions& options,
                                           std::shared_ptr<SignatureCache> cache,
                                           SignaturesPtr signatures)
    : endpoint_(std::move(endpoint)),
      options_(options),
      session_(InsertSession::Create(endpoint_)),
      tables_(std::move(cache), std::move(signatures), session_.get()),
      episode_id_(core::Random(std::nullopt).Next()) {
  UpdateTuner();
}

TrajectoryWriterImpl::~TrajectoryWriterImpl() {
  if (endpoint_->fork_guard().forked()) {
    new std::shared_ptr<InsertSession>(std::move(session_));
    return;
  }
  session_->Close();
}

void TrajectoryWriterImpl::Close() {
  if (!endpoint_->fork_guard().forked()) session_->Close();
}

Status TrajectoryWriterImpl::CheckAlive() const {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  return session_->status();
}

ChunkerOptions TrajectoryWriterImpl::OptionsFor(int32_t column) const {
  const auto found = overrides_.find(column);
  return found == overrides_.end() ? options_.chunker : found->second;
}

int32_t TrajectoryWriterImpl::ChunkLength(const WriterColumn& column) const {
  const ChunkerOptions& options = column.options();
  return options.max_chunk_length > 0 ? options.max_chunk_length
                                      : std::min(tuner_.length(), options.num_keep_alive_refs);
}

int32_t TrajectoryWriterImpl::max_num_keep_alive_refs() const {
  int32_t most = options_.chunker.num_keep_alive_refs;
  for (const auto& entry : overrides_) most = std::max(most, entry.second.num_keep_alive_refs);
  for (const Column& column : columns_) {
    most = std::max(most, column.rows.options().num_keep_alive_refs);
  }
  return most;
}

void TrajectoryWriterImpl::UpdateTuner() { tuner_.SetMaxLength(max_num_keep_alive_refs()); }

Status TrajectoryWriterImpl::Configure(int32_t column, const ChunkerOptions& options) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  REVERB_TF_RETURN_IF_ERROR(CheckChunkerOptions(options));
  if (column < 0) {
    return InvalidArgumentError("There is no column " + std::to_string(column) + ".");
  }
  if (column >= static_cast<int32_t>(columns_.size())) {
    overrides_[column] = options;
  } else {
    WriterColumn& rows = columns_[column].rows;
    if (rows.open_rows() > 0) {
      return Status(StatusCode::kFailedPrecondition,
                    "Column " + std::to_string(column) + " cannot be configured while " +
                        std::to_string(rows.open_rows()) + " of its rows are not in a chunk yet.");
    }
    rows.set_options(options);
    rows.ReleaseExpired(&pool_);
  }
  UpdateTuner();
  return OkStatus();
}

Status TrajectoryWriterImpl::CheckAppend(const TensorView* values, int32_t n) const {
  if (step_ == std::numeric_limits<int32_t>::max()) {
    return Status(StatusCode::kFailedPrecondition, "The episode has too many steps: end it.");
  }
  for (int32_t i = 0; i < n; ++i) {
    if (values[i].dtype == DType::kInvalid) continue;
    REVERB_TF_RETURN_IF_ERROR(CheckKind(i, values[i]));
    REVERB_TF_RETURN_IF_ERROR(CheckSize(i, values[i]));
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CheckKind(int32_t i, const TensorView& value) const {
  if (i < static_cast<int32_t>(columns_.size()) && columns_[i].rows.defined()) {
    const Column& column = columns_[i];
    if (value.dtype != column.rows.dtype()) {
      return ColumnError(
          "Tensor of wrong dtype", i,
          std::string(DTypeName(value.dtype)) + " but expected " + DTypeName(column.rows.dtype()));
    }
    if (!column.rows.Accepts(value)) {
      return ColumnError("Tensor of incompatible shape", i,
                         ShapeString(value.dims, value.rank) + " which is incompatible with " +
                             ShapeString(column.rows.dims(), column.rows.rank()));
    }
    if (step_is_open_ && column.in_open_step) {
      return Status(
          StatusCode::kFailedPrecondition,
          "Column " + std::to_string(i) + " has already been set in the step that is open.");
    }
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CheckSize(int32_t i, const TensorView& value) {
  size_t bytes = value.num_bytes();
  if (value.dtype == DType::kString) {
    const auto* const strings = static_cast<const std::string_view*>(value.data);
    for (int64_t j = 0; j < value.num_elements(); ++j) bytes += strings[j].size() + 5;
  }
  if (bytes <= kMaxRowBytes) return OkStatus();
  return InvalidArgumentError("The value for column " + std::to_string(i) + " has " +
                              std::to_string(bytes) + " bytes, but at most " +
                              std::to_string(kMaxRowBytes) + " can be sent.");
}

Status TrajectoryWriterImpl::Append(const TensorView* values, int32_t n, bool partial,
                                    StepRef* refs) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  REVERB_TF_RETURN_IF_ERROR(CheckAppend(values, n));
  AddRows(values, n, partial, refs);
  step_is_open_ = partial;
  if (partial) return OkStatus();
  ++step_;
  Status status = CloseStep();
  if (!status.ok()) {
    for (Column& column : columns_) column.rows.CopyRows();
    return status;
  }
  NoteEvents();
  return SendComplete();
}

void TrajectoryWriterImpl::NoteEvents() {
  if (pool_.events().size() <= kMaxEvents) return;
  session_->NoteChunks(pool_.events());
  pool_.ClearEvents();
}

void TrajectoryWriterImpl::AddColumns(int32_t n) {
  for (int32_t i = static_cast<int32_t>(columns_.size()); i < n; ++i) {
    columns_.emplace_back(OptionsFor(i));
    overrides_.erase(i);
  }
}

void TrajectoryWriterImpl::AddRows(const TensorView* values, int32_t n, bool partial,
                                   StepRef* refs) {
  if (!step_is_open_) {
    for (Column& column : columns_) column.in_open_step = false;
  }
  AddColumns(n);
  for (int32_t i = 0; i < n; ++i) {
    refs[i] = StepRef();
    if (values[i].dtype == DType::kInvalid) continue;
    Column& column = columns_[i];
    if (!column.rows.defined()) {
      column.rows.Define(values[i]);
      column.last_item = items_made_;
    }
    column.rows.AddRow(values[i], step_);
    column.in_open_step = true;
    refs[i] = {i, column.rows.num_rows() - 1};
    if (partial) {
      column.rows.CopyRows();
      column.rows.ReleaseExpired(&pool_);
    }
  }
}

Status TrajectoryWriterImpl::CloseStep() {
  due_.clear();
  for (int32_t i = 0; i < static_cast<int32_t>(columns_.size()); ++i) {
    WriterColumn& rows = columns_[i].rows;
    if (rows.open_rows() == 0) continue;
    if (rows.open_rows() >= ChunkLength(rows) || rows.open_bytes() >= kMaxGroupBytes) {
      due_.push_back(i);
    } else {
      rows.CopyRows();
      rows.ReleaseExpired(&pool_);
    }
  }
  return CloseColumns(due_);
}

bool TrajectoryWriterImpl::SameSteps(const Column& a, const Column& b) const {
  const auto is_unused = [this](const Column& column) {
    return items_made_ - column.last_item > kItemsUntilUnused;
  };
  return !a.rows.open_sparse() && !b.rows.open_sparse() &&
         a.rows.open_first_step() == b.rows.open_first_step() &&
         a.rows.open_last_step() == b.rows.open_last_step() && is_unused(a) == is_unused(b);
}

Status TrajectoryWriterImpl::CloseColumns(const std::vector<int32_t>& columns) {
  // One group after the other; usually there is one.
  std::vector<int32_t> rest;
  const std::vector<int32_t>* left = &columns;
  std::vector<int32_t> next_rest;
  while (!left->empty()) {
    group_.clear();
    next_rest.clear();
    size_t bytes = 0;
    for (int32_t column : *left) {
      const Column& candidate = columns_[column];
      const bool joins = group_.empty() || (SameSteps(columns_[group_[0]], candidate) &&
                                            bytes + candidate.rows.open_bytes() <= kMaxGroupBytes);
      if (joins) bytes += candidate.rows.open_bytes();
      (joins ? group_ : next_rest).push_back(column);
    }
    REVERB_TF_RETURN_IF_ERROR(CloseGroup(group_.data(), static_cast<int32_t>(group_.size())));
    rest.swap(next_rest);
    left = &rest;
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CloseGroup(const int32_t* columns, int32_t n) {
  views_.clear();
  advisors_.clear();
  for (int32_t i = 0; i < n; ++i) {
    WriterColumn& rows = columns_[columns[i]].rows;
    views_.push_back(rows.OpenView());
    advisors_.push_back(rows.advisor());
  }
  const WriterColumn& first = columns_[columns[0]].rows;
  core::Chunk::Header header;
  header.key = chunk_keys_.Key(chunks_made_++);
  header.episode_id = episode_id_;
  header.first_step = first.open_first_step();
  header.last_step = first.open_last_step();
  header.num_rows = first.open_rows();
  header.sparse = first.open_sparse();
  Result<core::ChunkRef> encoded = wire::EncodeChunk(header, views_.data(), n, advisors_.data());
  if (!encoded.ok()) return encoded.status();
  const core::ChunkRef chunk = std::move(encoded).value();
  tuner_.AddChunk(header.num_rows, chunk->num_bytes());
  uncounted_bytes_ += chunk->memory_bytes();
  const ChunkPool::Slot slot = pool_.Add(chunk, n);
  for (int32_t i = 0; i < n; ++i) {
    WriterColumn& rows = columns_[columns[i]].rows;
    rows.advisor() = advisors_[i];
    for (DraftItem& draft : drafts_) draft.Resolve(columns[i], chunk, i);
    rows.CloseRows(slot, i);
    rows.ReleaseExpired(&pool_);
  }
  return OkStatus();
}

std::vector<int32_t> TrajectoryWriterImpl::WithCompanions(const std::vector<bool>& wanted) const {
  std::vector<int32_t> columns;
  for (int32_t i = 0; i < static_cast<int32_t>(columns_.size()); ++i) {
    if (columns_[i].rows.open_rows() == 0) continue;
    bool close = wanted[i];
    for (size_t j = 0; j < columns_.size() && !close; ++j) {
      close = wanted[j] && columns_[j].rows.open_rows() > 0 && SameSteps(columns_[i], columns_[j]);
    }
    if (close) columns.push_back(i);
  }
  return columns;
}

Status TrajectoryWriterImpl::CloseAll() {
  return CloseColumns(WithCompanions(std::vector<bool>(columns_.size(), true)));
}

Status TrajectoryWriterImpl::SendAllBut(int64_t max_pending) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  if (max_pending < 0) {
    return InvalidArgumentError("max_pending must not be negative, but is " +
                                std::to_string(max_pending) + ".");
  }
  const int64_t drafts = static_cast<int64_t>(drafts_.size());
  if (drafts <= max_pending) return OkStatus();
  std::vector<bool> wanted(columns_.size());
  for (int64_t i = 0; i < drafts - max_pending; ++i) {
    for (size_t column = 0; column < wanted.size(); ++column) {
      wanted[column] = wanted[column] || drafts_[i].NeedsColumn(static_cast<int32_t>(column));
    }
  }
  REVERB_TF_RETURN_IF_ERROR(CloseColumns(WithCompanions(wanted)));
  return SendComplete();
}

Status TrajectoryWriterImpl::Flush(int64_t max_pending, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(SendAllBut(max_pending));
  // The writer may be destroyed while this waits.
  const std::shared_ptr<InsertSession> session = session_;
  return session->WaitForConfirmations(max_pending - static_cast<int64_t>(drafts_.size()), wait,
                                       "Flush()");
}

Status TrajectoryWriterImpl::EndEpisode(bool clear_buffers, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(Flush(0, wait));
  if (clear_buffers) {
    for (Column& column : columns_) {
      column.rows.DropOpenRows();
      column.rows.ExpireAll();
      column.rows.ReleaseExpired(&pool_);
    }
  } else {
    REVERB_TF_RETURN_IF_ERROR(CloseAll());
  }
  for (Column& column : columns_) column.in_open_step = false;
  step_is_open_ = false;
  step_ = 0;
  episode_id_ = core::Random(std::nullopt).Next();
  return OkStatus();
}

}  // namespace reverb_tf::client
