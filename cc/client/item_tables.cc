#include "cc/client/item_tables.h"

namespace reverb_tf::client {

Result<const ItemTables::Entry*> ItemTables::Find(const std::string& table,
                                                  const WaitOptions& wait) {
  const auto found = entries_.find(table);
  if (found != entries_.end()) return &found->second;
  Entry entry;
  if (cache_ != nullptr) {
    // A table that the signatures do not have may be younger than they are.
    if (signatures_->tables.count(table) == 0) {
      REVERB_TF_ASSIGN_OR_RETURN(signatures_, cache_->Get({table}, wait));
    }
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
