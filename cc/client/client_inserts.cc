// The calls of a client that insert.
#include <cmath>
#include <functional>
#include <utility>

#include "cc/client/client_impl.h"

namespace reverb_tf::client {
namespace {

Status CheckPriority(const std::string& table, double priority) {
  if (!std::isnan(priority)) return OkStatus();
  return InvalidArgumentError("The priority for table '" + table + "' is NaN.");
}

Status CheckTargets(int32_t n, const std::vector<TableAndPriority>& targets) {
  if (n < 1) return InvalidArgumentError("Nothing to insert: the step has no arrays.");
  if (targets.empty()) {
    return InvalidArgumentError("Insert needs at least one table with a priority.");
  }
  for (const TableAndPriority& target : targets) {
    REVERB_TF_RETURN_IF_ERROR(CheckPriority(target.table, target.priority));
  }
  return OkStatus();
}

Status CheckBatch(const TensorView* values, int32_t n, const std::string& table,
                  const std::vector<double>& priorities) {
  if (n < 1) return InvalidArgumentError("Nothing to insert: the batch has no arrays.");
  for (int32_t i = 0; i < n; ++i) {
    if (values[i].rank >= 1 && values[i].dims[0] == static_cast<int64_t>(priorities.size())) {
      continue;
    }
    return InvalidArgumentError("Cannot insert a batch into table '" + table +
                                "': the array at flattened index " + std::to_string(i) +
                                " has shape " + ShapeString(values[i].dims, values[i].rank) +
                                ", but there are " + std::to_string(priorities.size()) +
                                " priorities: its first axis must have one row for each.");
  }
  for (size_t i = 0; i < priorities.size(); ++i) {
    const Status status = CheckPriority(table, priorities[i]);
    if (!status.ok()) return status.WithContext("Item " + std::to_string(i) + " of the batch");
  }
  return OkStatus();
}

// A table that is not there is the caller's mistake here.
Result<const TableSignature*> FindTable(const Signatures& signatures, const std::string& table) {
  Result<const TableSignature*> signature = signatures.Find(table);
  if (signature.ok()) return signature;
  return InvalidArgumentError(signature.status().message());
}

Result<InsertRequest> StepRequest(const core::TrajectoryRef& step,
                                  const std::vector<TableAndPriority>& targets,
                                  const Signatures& signatures) {
  InsertRequest request;
  for (const TableAndPriority& target : targets) {
    REVERB_TF_ASSIGN_OR_RETURN(const TableSignature* const signature,
                               FindTable(signatures, target.table));
    REVERB_TF_RETURN_IF_ERROR(CheckStep(target.table, *signature, *step));
    REVERB_TF_RETURN_IF_ERROR(signatures.CheckPriority(target.table, target.priority));
    request.items.push_back({request.tables.size(), target.priority, step});
    request.tables.push_back(target.table);
  }
  return request;
}

Result<InsertRequest> BatchRequest(const std::vector<core::ChunkRef>& chunks,
                                   const std::string& table, const std::vector<double>& priorities,
                                   const Signatures& signatures) {
  REVERB_TF_ASSIGN_OR_RETURN(const TableSignature* const signature, FindTable(signatures, table));
  std::vector<bool> squeeze(chunks.front()->num_tensors(), false);
  REVERB_TF_ASSIGN_OR_RETURN(const core::TrajectoryRef first, StepOf(chunks.front(), 0, squeeze));
  REVERB_TF_RETURN_IF_ERROR(CheckStep(table, *signature, *first, &squeeze));
  InsertRequest request;
  request.tables.push_back(table);
  request.items.reserve(priorities.size());
  for (const core::ChunkRef& chunk : chunks) {
    for (int32_t row = 0; row < chunk->header().num_rows; ++row) {
      const double priority = priorities[request.items.size()];
      const Status status = signatures.CheckPriority(table, priority);
      if (!status.ok()) {
        return status.WithContext("Item " + std::to_string(request.items.size()) + " of the batch");
      }
      REVERB_TF_ASSIGN_OR_RETURN(core::TrajectoryRef trajectory, StepOf(chunk, row, squeeze));
      request.items.push_back({0, priority, std::move(trajectory)});
    }
  }
  return request;
}

std::vector<std::string> TableNames(const std::vector<TableAndPriority>& targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const TableAndPriority& target : targets) names.push_back(target.table);
  return names;
}

}  // namespace

Result<std::vector<uint64_t>> ClientImpl::Insert(const TensorView* values, int32_t n,
                                                 const std::vector<TableAndPriority>& targets,
                                                 const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  using R = Result<std::vector<uint64_t>>;
  std::string what = "the confirmation of an insert into table '";
  for (size_t i = 0; i < targets.size(); ++i) what += (i > 0 ? "', '" : "") + targets[i].table;
  CallSubject subject(endpoint_.get(), what + "'", TableNames(targets));
  return Await<R>(endpoint_->clock(), wait, &subject, [&](std::function<void(R)> done) {
    return InsertStep(values, n, targets, nullptr, std::move(done), subject.trouble());
  });
}

std::function<void()> ClientImpl::InsertAsync(const TensorView* values, int32_t n,
                                              std::vector<TableAndPriority> targets,
                                              std::shared_ptr<const void> owner,
                                              KeysCallback callback) {
  return InsertStep(values, n, std::move(targets), std::move(owner), std::move(callback), nullptr);
}

CancelFunction ClientImpl::InsertStep(const TensorView* values, int32_t n,
                                      std::vector<TableAndPriority> targets,
                                      std::shared_ptr<const void> owner, KeysCallback callback,
                                      std::shared_ptr<CallTrouble> trouble) {
  Status status = endpoint_->fork_guard().Check();
  if (status.ok()) status = CheckTargets(n, targets);
  Result<core::TrajectoryRef> step = status.ok()
                                         ? parts_->encoder.Encode(values, n, std::move(owner))
                                         : Result<core::TrajectoryRef>(status);
  if (!step.ok()) {
    callback(step.status());
    return [] {};
  }
  const std::vector<std::string> tables = TableNames(targets);
  return StartInsert(
      tables,
      [step = std::move(step).value(), targets = std::move(targets)](const Signatures& signatures) {
        return StepRequest(step, targets, signatures);
      },
      std::move(callback), std::move(trouble));
}

std::function<void()> ClientImpl::InsertBatchAsync(const TensorView* values, int32_t n,
                                                   const std::string& table,
                                                   std::vector<double> priorities,
                                                   KeysCallback callback) {
  using Chunks = std::vector<core::ChunkRef>;
  Status status = endpoint_->fork_guard().Check();
  if (status.ok()) status = CheckBatch(values, n, table, priorities);
  if (!status.ok() || priorities.empty()) {
    callback(status.ok() ? Result<std::vector<uint64_t>>(std::vector<uint64_t>())
                         : Result<std::vector<uint64_t>>(status));
    return [] {};
  }
  Result<Chunks> chunks =
      parts_->encoder.EncodeRows(values, n, static_cast<int64_t>(priorities.size()));
  if (!chunks.ok()) {
    callback(chunks.status());
    return [] {};
  }
  return StartInsert(
      {table},
      [chunks = std::move(chunks).value(), table,
       priorities = std::move(priorities)](const Signatures& signatures) {
        return BatchRequest(chunks, table, priorities, signatures);
      },
      std::move(callback), nullptr);
}

CancelFunction ClientImpl::StartInsert(
    const std::vector<std::string>& tables,
    std::function<Result<InsertRequest>(const Signatures&)> make_request, KeysCallback callback,
    std::shared_ptr<CallTrouble> trouble) {
  // The insert follows the signatures; what is cancelled is whatever is going on.
  struct Progress {
    Mutex mu;
    CancelFunction cancel_insert GUARDED_BY(mu);
    bool cancelled GUARDED_BY(mu) = false;
  };
  auto progress = std::make_shared<Progress>();
  CancelFunction cancel_signatures = parts_->signatures->Get(
      tables,
      [progress, inserter = parts_->inserter, make_request = std::move(make_request),
       callback = std::move(callback)](Result<SignaturesPtr> signatures) {
        Result<InsertRequest> request =
            signatures.ok() ? make_request(**signatures) : signatures.status();
        if (!request.ok()) return callback(request.status());
        CancelFunction cancel = inserter->Insert(std::move(request).value(), callback);
        bool cancelled = false;
        {
          MutexLock lock(&progress->mu);
          cancelled = progress->cancelled;
          progress->cancel_insert = cancel;
        }
        if (cancelled) cancel();
      },
      std::move(trouble));
  return [progress, cancel_signatures = std::move(cancel_signatures)] {
    CancelFunction cancel_insert;
    {
      MutexLock lock(&progress->mu);
      progress->cancelled = true;
      cancel_insert = progress->cancel_insert;
    }
    cancel_signatures();
    if (cancel_insert) cancel_insert();
  };
}

}  // namespace reverb_tf::client
