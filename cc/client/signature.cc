#include "cc/client/signature.h"

#include <utility>

#include "cc/core/prioritized.h"
#include "cc/wire/signature.h"
#include "proto/schema.pb.h"

namespace reverb_tf::client {
namespace {

// The column's whole shape.
std::vector<int64_t> FullShape(const ColumnShape& column) {
  std::vector<int64_t> dims;
  dims.reserve(column.rank + 1);
  if (!column.squeezed) dims.push_back(column.rows);
  dims.insert(dims.end(), column.dims, column.dims + column.rank);
  return dims;
}

// spec.Accepts of the whole shape, without building it.
bool Fits(const TensorSpec& spec, const ColumnShape& column) {
  if (spec.dtype != column.dtype) return false;
  if (spec.unknown_rank) return true;
  const size_t skip = column.squeezed ? 0 : 1;
  if (spec.dims.size() != static_cast<size_t>(column.rank) + skip) return false;
  if (skip == 1 && spec.dims[0] >= 0 && spec.dims[0] != column.rows) return false;
  for (int32_t i = 0; i < column.rank; ++i) {
    const int64_t expected = spec.dims[i + skip];
    if (expected >= 0 && expected != column.dims[i]) return false;
  }
  return true;
}

}  // namespace

Result<const TableSignature*> Signatures::Find(const std::string& table) const {
  const auto found = tables.find(table);
  if (found != tables.end()) {
    if (!found->second.ok()) return found->second.status();
    return &*found->second;
  }
  std::string names;
  for (const auto& entry : tables) names += (names.empty() ? "'" : ", '") + entry.first + "'";
  return NotFoundError("Unknown table '" + table + "': the server has " +
                       (names.empty() ? "no tables" : "the tables " + names) + ".");
}

Status Signatures::CheckPriority(const std::string& table, double priority) const {
  const auto found = exponents.find(table);
  if (found == exponents.end()) return OkStatus();
  for (double exponent : found->second) {
    const Status status = core::Prioritized::CheckPriority(priority, exponent);
    if (!status.ok()) return status.WithContext("Table '" + table + "' refuses the item");
  }
  return OkStatus();
}

Result<SignaturesPtr> ParseSignatures(const ServerInfo& info) {
  auto signatures = std::make_shared<Signatures>();
  signatures->state_id_high = info.state_id_high;
  signatures->state_id_low = info.state_id_low;
  for (const std::string& serialized : info.tables) {
    deepmind::reverb::TableInfo table;
    if (!table.ParseFromString(serialized)) {
      return InternalError("The server sent a malformed TableInfo.");
    }
    Result<TableSignature> signature = TableSignature();
    if (table.has_signature()) {
      signature = wire::ParseSignature(table.signature().SerializeAsString());
      if (!signature.ok()) {
        signature = signature.status().WithContext("The signature of table '" + table.name() + "'");
      }
    }
    for (const auto* options : {&table.sampler_options(), &table.remover_options()}) {
      if (!options->has_prioritized()) continue;
      signatures->exponents[table.name()].push_back(options->prioritized().priority_exponent());
    }
    signatures->tables.emplace(table.name(), std::move(signature));
  }
  return SignaturesPtr(std::move(signatures));
}

Status CheckItem(const std::string& table, const TableSignature& signature,
                 const std::vector<ColumnShape>& columns) {
  if (!signature.has_signature) return OkStatus();
  if (columns.size() != signature.leaves.size()) {
    return InvalidArgumentError("Unable to create an item in table '" + table + "': it has " +
                                std::to_string(columns.size()) +
                                " columns, but the table's signature has " +
                                std::to_string(signature.leaves.size()) + ".");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const TensorSpec& spec = signature.leaves[i];
    if (Fits(spec, columns[i])) continue;
    const std::vector<int64_t> dims = FullShape(columns[i]);
    return InvalidArgumentError(
        "Unable to create an item in table '" + table + "': column " + std::to_string(i) + " ('" +
        spec.name + "') has (dtype, shape): " +
        DTypeAndShape(columns[i].dtype, dims.data(), static_cast<int32_t>(dims.size())) +
        ", but the table's signature says (dtype, shape): " + DTypeAndShape(spec) + ".");
  }
  return OkStatus();
}

std::string DTypeAndShape(DType dtype, const int64_t* dims, int32_t rank) {
  return std::string("(") + DTypeName(dtype) + ", " + ShapeString(dims, rank) + ")";
}

std::string DTypeAndShape(const TensorSpec& spec) {
  return std::string("(") + DTypeName(spec.dtype) + ", " + ShapeString(spec) + ")";
}

}  // namespace reverb_tf::client
