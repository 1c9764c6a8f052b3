// The tables that a writer makes items for.
#ifndef REVERB_TF_CLIENT_ITEM_TABLES_H_
#define REVERB_TF_CLIENT_ITEM_TABLES_H_

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "cc/client/insert_session.h"
#include "cc/client/signature.h"
#include "cc/client/signature_cache.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::client {

// Not thread-safe.
class ItemTables {
 public:
  struct Entry {
    const std::string* name = nullptr;          // of the session
    const TableSignature* signature = nullptr;  // null: items are not checked
    SignaturesPtr owner;
  };

  // `cache` null: items are not checked; else `signatures` is what it had, or null. The session
  // must outlive this.
  ItemTables(std::shared_ptr<SignatureCache> cache, SignaturesPtr signatures,
             InsertSession* session)
      : cache_(std::move(cache)), signatures_(std::move(signatures)), session_(session) {}

  // Asks the server about a table that is not known yet. INVALID_ARGUMENT: it does not have it.
  Result<const Entry*> Find(const std::string& table, const WaitOptions& wait);

  // Find() would not wait.
  bool Knows(const std::string& table) const { return entries_.count(table) > 0; }
  // Makes it so, without blocking. The callback comes once, from any thread, perhaps before this
  // returns; until then this must live, and not be used. The returned function makes it come now.
  CancelFunction Learn(const std::string& table, std::function<void(Status)> callback);

 private:
  Result<const Entry*> Add(const std::string& table);

  const std::shared_ptr<SignatureCache> cache_;
  SignaturesPtr signatures_;
  InsertSession* const session_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_ITEM_TABLES_H_
