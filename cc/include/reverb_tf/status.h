// Errors as values: the one error type of every layer.
//
// Thread-safety: Status and Result are plain values; distinct objects may be used from distinct
// threads.
#ifndef REVERB_TF_STATUS_H_
#define REVERB_TF_STATUS_H_

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "reverb_tf/export.h"

namespace reverb_tf {

// Numbers are those of gRPC (and absl), so that codes convert by value.
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// Upper-case name of the code, for example "INVALID_ARGUMENT".
REVERB_TF_EXPORT const char* StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same code with "context: " in front of the message; OK stays OK.
  Status WithContext(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

  // "OK" or "CODE_NAME: message".
  std::string ToString() const {
    return ok() ? "OK" : std::string(StatusCodeName(code_)) + ": " + message_;
  }

  // Marks a status as deliberately not looked at.
  void IgnoreError() const {}

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }
inline Status CancelledError(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
inline Status InvalidArgumentError(std::string m) {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
inline Status DeadlineExceededError(std::string m) {
  return {StatusCode::kDeadlineExceeded, std::move(m)};
}
inline Status NotFoundError(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
inline Status ResourceExhaustedError(std::string m) {
  return {StatusCode::kResourceExhausted, std::move(m)};
}
inline Status FailedPreconditionError(std::string m) {
  return {StatusCode::kFailedPrecondition, std::move(m)};
}
inline Status OutOfRangeError(std::string m) { return {StatusCode::kOutOfRange, std::move(m)}; }
inline Status UnimplementedError(std::string m) {
  return {StatusCode::kUnimplemented, std::move(m)};
}
inline Status InternalError(std::string m) { return {StatusCode::kInternal, std::move(m)}; }
inline Status UnavailableError(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
inline Status DataLossError(std::string m) { return {StatusCode::kDataLoss, std::move(m)}; }

// A value or the error that prevented it. Reading the value of an error ends the process.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit by design
    if (status_.ok()) std::abort();
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  T&& operator*() && { return std::move(Checked()); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& Checked() {
    if (!value_.has_value()) std::abort();
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace reverb_tf

#define REVERB_TF_CONCAT_INNER(a, b) a##b
#define REVERB_TF_CONCAT(a, b) REVERB_TF_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Status) from the enclosing function, if it is one.
#define REVERB_TF_RETURN_IF_ERROR(expr)                    \
  do {                                                     \
    ::reverb_tf::Status reverb_tf_status_ = (expr);        \
    if (!reverb_tf_status_.ok()) return reverb_tf_status_; \
  } while (false)

// Assigns the value of `expr` (a Result) to `lhs`, or returns its error.
#define REVERB_TF_ASSIGN_OR_RETURN(lhs, expr) \
  REVERB_TF_ASSIGN_OR_RETURN_IMPL(REVERB_TF_CONCAT(reverb_tf_result_, __LINE__), lhs, expr)
#define REVERB_TF_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                    \
  if (!result.ok()) return result.status();                \
  lhs = std::move(result).value()

#endif  // REVERB_TF_STATUS_H_
