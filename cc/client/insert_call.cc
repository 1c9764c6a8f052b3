#include "cc/client/insert_call.h"

#include <string>

namespace reverb_tf::client {

// What one session confirms.
class InsertCall::Attempt : public ConfirmationListener {
 public:
  Attempt(std::shared_ptr<InsertCall> call, int number) : call_(std::move(call)), number_(number) {}
  void OnItemConfirmed() override { call_->OnItemConfirmed(number_); }

 private:
  const std::shared_ptr<InsertCall> call_;
  const int number_;
};

Status InsertCall::AddTo(InsertSession* session) {
  MutexLock lock(&mu_);
  const auto attempt = std::make_shared<Attempt>(shared_from_this(), ++attempts_);
  keys_.clear();
  unconfirmed_ = targets_.size();
  for (size_t i = 0; i < targets_.size(); ++i) {
    SessionItem item;
    item.table = session->InternTable(targets_[i].table);
    item.priority = targets_[i].priority;
    item.trajectory = trajectory_;
    item.bytes = i == 0 ? trajectory_->chunk_bytes() : 0;
    item.listener = attempt;
    REVERB_TF_ASSIGN_OR_RETURN(const uint64_t key, session->Add(std::move(item), {}));
    keys_.push_back(key);
  }
  return OkStatus();
}

void InsertCall::OnItemConfirmed(int attempt) {
  std::vector<uint64_t> keys;
  {
    MutexLock lock(&mu_);
    if (attempt != attempts_ || unconfirmed_ == 0 || --unconfirmed_ > 0) return;
    keys = keys_;
  }
  End(std::move(keys));
}

bool InsertCall::End(Result<std::vector<uint64_t>> result) {
  Client::KeysCallback callback;
  std::function<void(InsertCall*)> on_end;
  std::shared_ptr<InsertSession> session;
  {
    MutexLock lock(&mu_);
    callback.swap(callback_);
    on_end.swap(on_end_);
    session.swap(session_);
  }
  if (!callback) return false;
  if (on_end) on_end(this);
  if (session != nullptr) session->Close();
  callback(std::move(result));
  return true;
}

void InsertCall::OwnSession(std::shared_ptr<InsertSession> session) {
  bool ended = false;
  {
    MutexLock lock(&mu_);
    ended = callback_ == nullptr;
    if (!ended) session_ = session;
  }
  if (ended) session->Close();
}

}  // namespace reverb_tf::client
