#include <utility>

#include "cc/core/table.h"
#include "cc/wire/signature.h"
#include "cc/wire/table_info.h"
#include "reverb_tf/table.h"

namespace reverb_tf {

Result<std::shared_ptr<Table>> Table::Create(TableOptions options) {
  if (options.signature) {
    // Clients must be able to read it later.
    Status status = wire::ParseSignature(*options.signature).status();
    if (!status.ok()) return status.WithContext("table " + options.name);
  }
  REVERB_TF_ASSIGN_OR_RETURN(std::shared_ptr<core::Table> table,
                             core::Table::Create(std::move(options)));
  return std::make_shared<Table>(std::move(table));
}

Table::Table(std::shared_ptr<core::Table> table) : table_(std::move(table)) {}

Table::~Table() = default;

const std::string& Table::name() const { return table_->name(); }

Result<bool> Table::CanSample(int64_t n) const {
  if (n < 1) {
    return InvalidArgumentError("can_sample: n is " + std::to_string(n) + "; expected at least 1");
  }
  return table_->CanSample(n);
}

Result<bool> Table::CanInsert(int64_t n) const {
  if (n < 1) {
    return InvalidArgumentError("can_insert: n is " + std::to_string(n) + "; expected at least 1");
  }
  return table_->CanInsert(n);
}

Status Table::SetRateLimiter(const RateLimiterOptions& options) {
  return table_->SetRateLimiter(options);
}

std::string Table::SerializedInfo() const { return wire::SerializeTableInfo(table_->Info()); }

std::string Table::DebugString() const { return table_->DebugString(); }

}  // namespace reverb_tf
