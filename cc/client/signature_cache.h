// The signatures that a client has seen.
#ifndef REVERB_TF_CLIENT_SIGNATURE_CACHE_H_
#define REVERB_TF_CLIENT_SIGNATURE_CACHE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/signature.h"
#include "cc/client/unary_call.h"
#include "cc/core/mutex.h"

namespace reverb_tf::client {

// Thread-safe.
class SignatureCache : public std::enable_shared_from_this<SignatureCache> {
 public:
  using Callback = std::function<void(Result<SignaturesPtr>)>;

  explicit SignatureCache(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  // Blocks until it can be known. As below.
  Result<SignaturesPtr> Get(const std::vector<std::string>& tables, const WaitOptions& wait)
      EXCLUDES(mu_);

  // Calls back at once if all `tables` are cached, else with what the server says now. Without
  // tables, anything cached will do.
  CancelFunction Get(const std::vector<std::string>& tables, Callback callback,
                     std::shared_ptr<CallTrouble> trouble) EXCLUDES(mu_);

  // Replaces what is cached if the info is of another start of a server.
  void Update(const ServerInfo& info) EXCLUDES(mu_);

 private:
  SignaturesPtr Cached(const std::vector<std::string>& tables) EXCLUDES(mu_);

  const std::shared_ptr<Endpoint> endpoint_;

  Mutex mu_;
  SignaturesPtr signatures_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SIGNATURE_CACHE_H_
