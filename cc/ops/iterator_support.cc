#include "cc/ops/iterator_support.h"

#include <utility>

#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/platform/logging.h"

namespace reverb_tf::ops {

using ::tensorflow::data::IteratorContext;

bool IsCancelled(IteratorContext* ctx) {
  return ctx->cancellation_manager() != nullptr && ctx->cancellation_manager()->IsCancelled();
}

absl::Status IteratorCancelled() { return absl::CancelledError("Iterator context was cancelled"); }

CancellationScope::CancellationScope(IteratorContext* ctx, std::function<void()> close) {
  if (!RegisterCancellationCallback(ctx->cancellation_manager(), close, &deregister_).ok()) {
    deregister_ = nullptr;
    close();
  }
}

CancellationScope::~CancellationScope() {
  if (deregister_) deregister_();
}

absl::Status ChooseValidation(IteratorContext* ctx, Client* client,
                              std::vector<TensorSpec> requested, Duration timeout,
                              SamplerOptions* options) {
  WaitOptions wait;
  wait.timeout = timeout;
  wait.interrupted = [ctx] { return IsCancelled(ctx); };
  Result<TableSignature> signature = client->GetSignature(options->table, wait);
  if (IsCancelled(ctx)) return IteratorCancelled();
  if (signature.ok() && signature->has_signature) {
    TF_RETURN_IF_ERROR(ToTf(CheckRequest(options->table, requested, signature->leaves)));
    options->expected = std::move(signature->leaves);
    options->expected_is_signature = true;
    return absl::OkStatus();
  }
  if (!signature.ok()) {
    const StatusCode code = signature.status().code();
    if (code != StatusCode::kDeadlineExceeded && code != StatusCode::kNotFound)
      return ToTf(signature.status());
    LOG(WARNING)
        << "The signature of table '" << options->table
        << "' is not known, so samples are checked against the requested dtypes and shapes: "
        << signature.status().ToString();
  }
  options->expected = std::move(requested);
  options->expected_is_signature = false;
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops
