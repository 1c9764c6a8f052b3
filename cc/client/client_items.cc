// The calls of a client that are about the items and the limiter of one table.
#include <functional>
#include <utility>

#include "cc/client/client_impl.h"
#include "cc/client/sample_impl.h"

namespace reverb_tf::client {

// What a call of that name ends with when the server does not have it.
Status ClientImpl::WithoutCall(const char* name) const {
  return Status(StatusCode::kUnimplemented,
                "Server " + address() + " does not have the call " + name +
                    ": it is older than this client, or it is dm-reverb, which has no such call.");
}

template <typename R, typename Call>
R ClientImpl::CallTable(const char* name, const std::string& table, const WaitOptions& wait,
                        Call call) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  CallSubject subject(endpoint_.get(),
                      std::string("the answer to ") + name + " of table '" + table + "'");
  R result = Await<R>(endpoint_->clock(), wait, &subject, [&](std::function<void(R)> done) {
    return UnaryCall<R>::Start(endpoint_, call, std::move(done), subject.trouble());
  });
  if (StatusOf(result).code() != StatusCode::kUnimplemented) return result;
  return WithoutCall(name);
}

Result<std::vector<Sample>> ClientImpl::Get(const std::string& table, const uint64_t* keys,
                                            size_t n, const WaitOptions& wait) {
  using R = Result<std::vector<core::SampledItem>>;
  REVERB_TF_ASSIGN_OR_RETURN(std::vector<core::SampledItem> items,
                             CallTable<R>("GetItems", table, wait,
                                          [table, keys = std::vector<uint64_t>(keys, keys + n)](
                                              Transport* transport, std::function<void(R)> done) {
                                            return transport->Get(table, keys, std::move(done));
                                          }));
  std::vector<Sample> samples;
  samples.reserve(items.size());
  for (core::SampledItem& item : items) {
    samples.emplace_back(Sample::Impl::Create(std::move(item)));
  }
  return samples;
}

Result<ItemPage> ClientImpl::ListItems(const std::string& table, uint64_t start, int32_t max_items,
                                       const WaitOptions& wait) {
  using R = Result<ItemPage>;
  return CallTable<R>("ListItems", table, wait,
                      [=](Transport* transport, std::function<void(R)> done) {
                        return transport->ListItems(table, start, max_items, std::move(done));
                      });
}

Result<int64_t> ClientImpl::Delete(const std::string& table, const uint64_t* keys, size_t n,
                                   const WaitOptions& wait) {
  using R = Result<int64_t>;
  return CallTable<R>("DeleteItems", table, wait,
                      [table, keys = std::vector<uint64_t>(keys, keys + n)](
                          Transport* transport, std::function<void(R)> done) {
                        return transport->Delete(table, keys, std::move(done));
                      });
}

std::function<void()> ClientImpl::DeleteAsync(const std::string& table, std::vector<uint64_t> keys,
                                              CountCallback callback) {
  const Status status = endpoint_->fork_guard().Check();
  if (!status.ok()) {
    callback(status);
    return [] {};
  }
  using R = Result<int64_t>;
  return UnaryCall<R>::Start(
      endpoint_,
      [table, keys = std::move(keys)](Transport* transport, std::function<void(R)> done) {
        return transport->Delete(table, keys, std::move(done));
      },
      [without_call = WithoutCall("DeleteItems"), callback = std::move(callback)](R result) {
        callback(result.status().code() == StatusCode::kUnimplemented ? R(without_call)
                                                                      : std::move(result));
      },
      nullptr);
}

Status ClientImpl::SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                  const WaitOptions& wait) {
  return CallTable<Status>("SetRateLimiter", table, wait,
                           [=](Transport* transport, std::function<void(Status)> done) {
                             return transport->SetRateLimiter(table, options, std::move(done));
                           });
}

}  // namespace reverb_tf::client
