// Signatures of tables, and whether data fits them.
#ifndef REVERB_TF_CLIENT_SIGNATURE_H_
#define REVERB_TF_CLIENT_SIGNATURE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reverb_tf/client.h"
#include "reverb_tf/dtype.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::client {

// The signatures of all tables of a server at one time. Immutable.
struct Signatures {
  uint64_t state_id_high = 0;
  uint64_t state_id_low = 0;
  std::map<std::string, Result<TableSignature>> tables;
  // Exponents of the prioritized selectors of those tables that have any.
  std::map<std::string, std::vector<double>> exponents;

  // NOT_FOUND lists the tables there are. INVALID_ARGUMENT, naming the table, for a signature that
  // is not made of dicts, lists, tuples and (bounded) tensor specs.
  Result<const TableSignature*> Find(const std::string& table) const;
  // INVALID_ARGUMENT, naming table and value, for a priority that the table's selectors refuse: the
  // server would end the whole stream for it.
  Status CheckPriority(const std::string& table, double priority) const;
};
using SignaturesPtr = std::shared_ptr<const Signatures>;

// INTERNAL for a malformed TableInfo.
Result<SignaturesPtr> ParseSignatures(const ServerInfo& info);

// Dtype and shape of one column of an item.
struct ColumnShape {
  DType dtype = DType::kInvalid;
  const int64_t* dims = nullptr;  // of a row
  int32_t rank = 0;
  int64_t rows = 0;       // ignored if squeezed
  bool squeezed = false;  // the column has the row's shape; else [rows] + the row's shape
};

// INVALID_ARGUMENT unless the columns of an item fit the table's signature. The text names the
// table, the column, its path, and what was given and expected.
Status CheckItem(const std::string& table, const TableSignature& signature,
                 const std::vector<ColumnShape>& columns);

// "(float, [2,?])"
std::string DTypeAndShape(DType dtype, const int64_t* dims, int32_t rank);
std::string DTypeAndShape(const TensorSpec& spec);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SIGNATURE_H_
