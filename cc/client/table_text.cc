#include "cc/client/table_text.h"

#include <cmath>
#include <limits>

#include "cc/core/number_text.h"
#include "proto/schema.pb.h"

namespace reverb_tf::client {
namespace {

using core::NumberText;

// Diffs of the largest size mean "no bound".
bool IsBound(double diff) { return std::abs(diff) < std::numeric_limits<double>::max(); }

std::string LimiterText(const deepmind::reverb::TableInfo& table, bool sampling) {
  const deepmind::reverb::RateLimiterInfo& limiter = table.rate_limiter_info();
  const int64_t inserts = limiter.insert_stats().completed();
  const int64_t samples = limiter.sample_stats().completed();
  const double diff =
      static_cast<double>(inserts) * limiter.samples_per_insert() - static_cast<double>(samples);
  const std::string counters = std::to_string(inserts) + " inserts * " +
                               NumberText(limiter.samples_per_insert()) + " samples per insert - " +
                               std::to_string(samples) + " samples = " + NumberText(diff);
  if (sampling) {
    std::string text =
        "a sample needs at least " + std::to_string(limiter.min_size_to_sample()) + " items";
    if (IsBound(limiter.min_diff())) {
      text += ", and " + counters + " must be at least " + NumberText(limiter.min_diff() + 1);
    }
    return text;
  }
  if (!IsBound(limiter.max_diff())) return "inserts are not limited";
  return "an insert needs fewer than " + std::to_string(limiter.min_size_to_sample()) +
         " items, or " + counters + " must be at most " +
         NumberText(limiter.max_diff() - limiter.samples_per_insert());
}

}  // namespace

std::string TableStateText(const ServerInfo& info, const std::string& name, bool sampling) {
  deepmind::reverb::TableInfo table;
  for (const std::string& serialized : info.tables) {
    if (!table.ParseFromString(serialized) || table.name() != name) continue;
    return std::to_string(table.current_size()) + " of at most " +
           std::to_string(table.max_size()) + " items; " + LimiterText(table, sampling);
  }
  return "there is no table of this name";
}

}  // namespace reverb_tf::client
