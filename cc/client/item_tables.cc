#include "cc/client/item_tables.h"

#include <utility>

namespace reverb_tf::client {

Result<const ItemTables::Entry*> ItemTables::Find(const std::string& table,
                                                  const WaitOptions& wait) {
  const auto found = entries_.find(table);
  if (found != entries_.end()) return &found->second;
  // A table that the signatures do not have may be younger than they are.
  if (cache_ != nullptr && (signatures_ == nullptr || signatures_->tables.count(table) == 0)) {
    REVERB_TF_ASSIGN_OR_RETURN(signatures_, cache_->Get({table}, wait));
  }
  return Add(table);
}

CancelFunction ItemTables::Learn(const std::string& table, std::function<void(Status)> callback) {
  if (cache_ == nullptr || (signatures_ != nullptr && signatures_->tables.count(table) > 0)) {
    callback(Add(table).status());
    return [] {};
  }
  return cache_->Get(
      {table},
      [this, table, callback = std::move(callback)](Result<SignaturesPtr> signatures) {
        if (!signatures.ok()) return callback(signatures.status());
        signatures_ = std::move(signatures).value();
        callback(Add(table).status());
      },
      nullptr);
}

Result<const ItemTables::Entry*> ItemTables::Add(const std::string& table) {
  Entry entry;
  if (cache_ != nullptr) {
    Result<const TableSignature*> signature = signatures_->Find(table);
    if (!signature.ok()) {
      return InvalidArgumentError("Unable to create an item: " + signature.status().message());
    }
    entry.signature = *signature;
    entry.owner = signatures_;
  }
  entry.name = session_->InternTable(table);
  return &entries_.emplace(table, std::move(entry)).first->second;
}

}  // namespace reverb_tf::client
