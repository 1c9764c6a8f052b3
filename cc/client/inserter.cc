#include "cc/client/inserter.h"

namespace reverb_tf::client {
namespace {

// Statuses that say something about an item, not about the server or the connection.
bool IsFaultOfAnItem(const Status& status) {
  switch (status.code()) {
    case StatusCode::kUnavailable:
    case StatusCode::kCancelled:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kUnimplemented:
    case StatusCode::kUnauthenticated:
    case StatusCode::kPermissionDenied:
      return false;
    default:
      return true;
  }
}

std::string GroupName(const std::vector<std::string>& tables) {
  std::string name;
  for (const std::string& table : tables) name += std::to_string(table.size()) + ":" + table;
  return name;
}

}  // namespace

CancelFunction Inserter::Insert(InsertRequest request, Client::KeysCallback callback) {
  const std::vector<std::string> tables = request.tables;
  // The group that the call is in, set before anything can end the call. A group that has failed is
  // replaced at once, perhaps before it hears of it: its calls keep it until they have ended.
  const auto home = std::make_shared<std::shared_ptr<Group>>();
  const auto call = std::make_shared<InsertCall>(
      std::move(request), std::move(callback), [weak = weak_from_this(), home](InsertCall* call) {
        const std::shared_ptr<Inserter> self = weak.lock();
        const std::shared_ptr<Group> group = *home;
        if (self != nullptr && group != nullptr) self->Forget(group.get(), call);
      });
  std::shared_ptr<Group> group;
  Status status;
  {
    MutexLock lock(&mu_);
    // A session that another insert's fault ends at this moment says nothing about this insert.
    // The second group is a new one, which nobody else has yet.
    for (int attempt = 0; attempt < 2; ++attempt) {
      group = FindGroup(tables);
      *home = group;
      status = call->AddTo(group->session.get());
      if (status.ok() || !IsFaultOfAnItem(status)) break;
    }
    if (status.ok()) group->calls[call.get()] = call;
  }
  if (!status.ok()) {
    call->End(status);
    return [] {};
  }
  group->session->Send();
  return [weak = std::weak_ptr<InsertCall>(call)] {
    if (const auto call = weak.lock()) call->End(CancelledError("The insert was cancelled."));
  };
}

std::shared_ptr<Inserter::Group> Inserter::FindGroup(const std::vector<std::string>& tables) {
  std::shared_ptr<Group>& group = groups_[GroupName(tables)];
  if (group != nullptr && group->session->status().ok()) return group;
  group = std::make_shared<Group>();
  group->session = InsertSession::Create(
      endpoint_,
      [weak = weak_from_this(), weak_group = std::weak_ptr<Group>(group)](const Status& status) {
        const std::shared_ptr<Inserter> self = weak.lock();
        const std::shared_ptr<Group> group = weak_group.lock();
        if (self != nullptr && group != nullptr) self->OnFailure(group.get(), status);
      });
  return group;
}

void Inserter::Forget(Group* group, InsertCall* call) {
  std::shared_ptr<InsertCall> last;  // released without the lock
  MutexLock lock(&mu_);
  const auto found = group->calls.find(call);
  if (found == group->calls.end()) return;
  last = std::move(found->second);
  group->calls.erase(found);
}

void Inserter::OnFailure(Group* group, const Status& status) {
  std::unordered_map<InsertCall*, std::shared_ptr<InsertCall>> calls;
  {
    MutexLock lock(&mu_);
    calls.swap(group->calls);
  }
  // Also when only one is left: the one at fault may have been cancelled meanwhile.
  const bool repeat = IsFaultOfAnItem(status);
  for (const auto& entry : calls) {
    if (repeat) {
      Repeat(entry.second, group->session->keys());
    } else {
      entry.second->End(status);
    }
  }
}

void Inserter::Repeat(const std::shared_ptr<InsertCall>& call, const KeySequence& keys) {
  const std::weak_ptr<InsertCall> weak = call;
  auto session = InsertSession::Create(
      endpoint_,
      [weak](const Status& status) {
        if (const auto call = weak.lock()) call->End(status);
      },
      keys, keys.Index(call->first_key()));
  Status status = call->AddTo(session.get());
  if (!status.ok()) {
    call->End(status);
    return;
  }
  // The session's items hold the call until they are confirmed.
  call->OwnSession(session);
  session->Send();
}

void Inserter::Close() {
  std::map<std::string, std::shared_ptr<Group>> groups;
  {
    MutexLock lock(&mu_);
    groups.swap(groups_);
  }
  for (const auto& entry : groups) entry.second->session->Close();
}

}  // namespace reverb_tf::client
