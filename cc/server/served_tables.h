// The tables of one server, by name.
#ifndef REVERB_TF_SERVER_SERVED_TABLES_H_
#define REVERB_TF_SERVER_SERVED_TABLES_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cc/core/local_registry.h"
#include "cc/core/table.h"
#include "reverb_tf/status.h"

namespace reverb_tf::server {

// Immutable, so thread-safe. Shared by the server and its calls, some of which end after it.
class ServedTables {
 public:
  explicit ServedTables(std::shared_ptr<const core::LocalServer> server)
      : server_(std::move(server)) {
    for (const auto& table : server_->tables) by_name_[table->name()] = table.get();
  }

  const core::LocalServer& server() const { return *server_; }
  const std::shared_ptr<const core::LocalServer>& shared_server() const { return server_; }

  // NOT_FOUND "Priority table T was not found". The table lives as long as this object.
  Result<core::Table*> Find(const std::string& name) const {
    const auto it = by_name_.find(name);
    if (it != by_name_.end()) return it->second;
    return NotFoundError("Priority table " + name + " was not found");
  }

 private:
  const std::shared_ptr<const core::LocalServer> server_;
  std::unordered_map<std::string, core::Table*> by_name_;
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_SERVED_TABLES_H_
