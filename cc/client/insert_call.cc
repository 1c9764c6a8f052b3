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
  std::vector<const std::string*> tables;
  for (const std::string& table : request_.tables) tables.push_back(session->InternTable(table));
  std::vector<SessionItem> items;
  items.reserve(request_.items.size());
  const core::Chunk* counted = nullptr;  // neighbours share chunks
  for (const InsertRequest::Item& wanted : request_.items) {
    SessionItem item;
    item.table = tables[wanted.table];
    item.priority = wanted.priority;
    item.trajectory = wanted.trajectory;
    const core::Chunk* const chunk = wanted.trajectory->chunk(0).get();
    item.bytes = chunk == counted ? 0 : wanted.trajectory->chunk_bytes();
    counted = chunk;
    item.listener = attempt;
    items.push_back(std::move(item));
  }
  keys_.clear();
  unconfirmed_ = items.size();
  REVERB_TF_ASSIGN_OR_RETURN(const uint64_t first, session->AddAll(std::move(items), {}));
  for (size_t i = 0; i < unconfirmed_; ++i) keys_.push_back(session->keys().Key(first + i));
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
