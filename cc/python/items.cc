#include "cc/python/items.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cc/python/arguments.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/process.h"
#include "cc/python/replay_sample.h"
#include "cc/python/table.h"

namespace nb = nanobind;

namespace reverb_tf::python {
namespace {

std::vector<uint64_t> Keys(nb::handle keys) {
  std::vector<uint64_t> list;
  for (nb::handle key : keys) list.push_back(KeyArgument(key));
  return list;
}

template <typename Function>
auto Run(nb::handle timeout, Function&& function) {
  Duration limit = TimeoutFromSeconds(timeout);
  CheckProcess();
  return RunBlocking(limit, std::forward<Function>(function));
}

nb::object MakeItemInfo(const ItemInfo& item) {
  static PyTypeObject* type = NamedTupleType("reverb_tf.reverb_types", "ItemInfo");
  double age = std::chrono::duration<double>(item.age).count();
  return MakeNamedTuple(
      type, nb::make_tuple(item.key, item.priority, item.times_sampled, age, item.num_bytes));
}

}  // namespace

nb::object GetItems(const ClientPtr& client, nb::handle table, nb::handle keys, nb::handle timeout,
                    nb::handle structure) {
  const Structure* shape = structure.is_none() ? nullptr : &nb::cast<const Structure&>(structure);
  std::string name = TextArgument(table, "table");
  std::vector<uint64_t> list = Keys(keys);
  std::vector<Sample> samples = ValueOrThrow(Run(timeout, [&](const WaitOptions& wait) {
    return client->Get(name, list.data(), list.size(), wait);
  }));
  nb::list result;
  for (const Sample& sample : samples) {
    result.append(MakeReplaySample(MakeInfo(sample.info()), Arrange(ReadColumns(sample), shape)));
  }
  return result;
}

nb::object ListItems(const ClientPtr& client, nb::handle table, uint64_t start, int32_t page_size,
                     nb::handle timeout) {
  std::string name = TextArgument(table, "table");
  ItemPage page = ValueOrThrow(Run(timeout, [&](const WaitOptions& wait) {
    return client->ListItems(name, start, page_size, wait);
  }));
  nb::list items;
  for (const ItemInfo& item : page.items) items.append(MakeItemInfo(item));
  return nb::make_tuple(items, page.next);
}

int64_t DeleteItems(const ClientPtr& client, nb::handle table, nb::handle keys,
                    nb::handle timeout) {
  std::string name = TextArgument(table, "table");
  std::vector<uint64_t> list = Keys(keys);
  return ValueOrThrow(Run(timeout, [&](const WaitOptions& wait) {
    return client->Delete(name, list.data(), list.size(), wait);
  }));
}

void SetRateLimiter(const ClientPtr& client, nb::handle table, nb::handle limiter,
                    nb::handle timeout) {
  std::string name = TextArgument(table, "table");
  RateLimiterOptions options = LimiterOptions(limiter);
  ThrowIfError(Run(timeout, [&](const WaitOptions& wait) {
    return client->SetRateLimiter(name, options, wait);
  }));
}

}  // namespace reverb_tf::python
