#include "cc/client/signature_cache.h"

namespace reverb_tf::client {

SignaturesPtr SignatureCache::Cached(const std::vector<std::string>& tables) {
  MutexLock lock(&mu_);
  if (signatures_ == nullptr) return nullptr;
  for (const std::string& table : tables) {
    if (signatures_->tables.count(table) == 0) return nullptr;
  }
  return signatures_;
}

Result<SignaturesPtr> SignatureCache::Get(const std::vector<std::string>& tables,
                                          const WaitOptions& wait) {
  if (SignaturesPtr cached = Cached(tables)) return cached;
  CallSubject subject(endpoint_.get(), "the signatures of the tables");
  using R = Result<SignaturesPtr>;
  return Await<R>(endpoint_->clock(), wait, &subject, [&](std::function<void(R)> done) {
    return Get(tables, std::move(done), subject.trouble());
  });
}

CancelFunction SignatureCache::Get(const std::vector<std::string>& tables, Callback callback,
                                   std::shared_ptr<CallTrouble> trouble) {
  if (SignaturesPtr cached = Cached(tables)) {
    callback(std::move(cached));
    return [] {};
  }
  return UnaryCall<Result<ServerInfo>>::Start(
      endpoint_,
      [](Transport* transport, std::function<void(Result<ServerInfo>)> done) {
        return transport->GetServerInfo(std::move(done));
      },
      [self = shared_from_this(), callback = std::move(callback)](Result<ServerInfo> info) {
        if (!info.ok()) return callback(info.status());
        Result<SignaturesPtr> signatures = ParseSignatures(*info);
        if (signatures.ok()) {
          MutexLock lock(&self->mu_);
          self->signatures_ = *signatures;
        }
        callback(std::move(signatures));
      },
      std::move(trouble));
}

void SignatureCache::Update(const ServerInfo& info) {
  {
    MutexLock lock(&mu_);
    if (signatures_ != nullptr && signatures_->state_id_high == info.state_id_high &&
        signatures_->state_id_low == info.state_id_low) {
      return;
    }
  }
  Result<SignaturesPtr> signatures = ParseSignatures(info);
  if (!signatures.ok()) return;
  MutexLock lock(&mu_);
  signatures_ = std::move(signatures).value();
}

}  // namespace reverb_tf::client
