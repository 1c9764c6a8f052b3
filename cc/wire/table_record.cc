#include "cc/wire/table_record.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>
#include <utility>

#include "cc/core/selector.h"
#include "cc/wire/signature.h"
#include "cc/wire/table_info.h"
#include "proto/checkpoint.pb.h"

namespace reverb_tf::wire {
namespace {

namespace pb = ::deepmind::reverb;

bool IsDeterministic(const SelectorOptions& options) {
  return options.kind != SelectorOptions::Kind::kUniform &&
         options.kind != SelectorOptions::Kind::kPrioritized;
}

Result<SelectorOptions> ParseSelector(const pb::KeyDistributionOptions& from, const char* what) {
  SelectorOptions options;
  switch (from.distribution_case()) {
    case pb::KeyDistributionOptions::kFifo:
      options.kind = SelectorOptions::Kind::kFifo;
      return options;
    case pb::KeyDistributionOptions::kLifo:
      options.kind = SelectorOptions::Kind::kLifo;
      return options;
    case pb::KeyDistributionOptions::kUniform:
      options.kind = SelectorOptions::Kind::kUniform;
      return options;
    case pb::KeyDistributionOptions::kPrioritized:
      options.kind = SelectorOptions::Kind::kPrioritized;
      options.priority_exponent = from.prioritized().priority_exponent();
      return options;
    case pb::KeyDistributionOptions::kHeap:
      options.kind = from.heap().min_heap() ? SelectorOptions::Kind::kMinHeap
                                            : SelectorOptions::Kind::kMaxHeap;
      return options;
    case pb::KeyDistributionOptions::DISTRIBUTION_NOT_SET:
      break;
  }
  return InvalidArgumentError(std::string("the ") + what + " is of no known kind");
}

Status ParseLimiter(const pb::RateLimiterCheckpoint& from, core::TableSnapshot* table) {
  RateLimiterOptions& limiter = table->options.rate_limiter;
  limiter.samples_per_insert = from.samples_per_insert();
  limiter.min_size_to_sample = from.min_size_to_sample();
  limiter.min_diff = from.min_diff();
  limiter.max_diff = from.max_diff();
  table->inserts = from.insert_count();
  table->samples = from.sample_count();
  table->deletes = from.delete_count();
  if (table->inserts >= 0 && table->samples >= 0 && table->deletes >= 0) return OkStatus();
  return InvalidArgumentError("the rate limiter has counted " + std::to_string(table->inserts) +
                              " inserts, " + std::to_string(table->samples) + " samples and " +
                              std::to_string(table->deletes) +
                              " deletes; expected no negative number");
}

std::string SerializeDeterministically(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace

std::string SerializeTableRecord(const core::TableSnapshot& table) {
  pb::PriorityTableCheckpoint record;
  const TableOptions& options = table.options;
  record.set_table_name(options.name);
  pb::RateLimiterCheckpoint* limiter = record.mutable_rate_limiter();
  limiter->set_samples_per_insert(options.rate_limiter.samples_per_insert);
  limiter->set_min_diff(options.rate_limiter.min_diff);
  limiter->set_max_diff(options.rate_limiter.max_diff);
  limiter->set_min_size_to_sample(options.rate_limiter.min_size_to_sample);
  limiter->set_sample_count(table.samples);
  limiter->set_insert_count(table.inserts);
  limiter->set_delete_count(table.deletes);
  FillSelector(options.sampler, IsDeterministic(options.sampler), record.mutable_sampler());
  FillSelector(options.remover, IsDeterministic(options.remover), record.mutable_remover());
  record.set_max_size(options.max_size);
  record.set_max_times_sampled(options.max_times_sampled);
  record.set_num_deleted_episodes(table.num_deleted_episodes);
  record.set_num_unique_samples(table.num_unique_samples);
  if (table.version != table.inserts) record.set_version(table.version);
  if (options.signature && !record.mutable_signature()->ParseFromString(*options.signature)) {
    record.clear_signature();
  }
  return SerializeDeterministically(record);
}

Result<TableRecord> ParseTableRecord(std::string_view serialized) {
  pb::PriorityTableCheckpoint record;
  if (serialized.size() > std::numeric_limits<int32_t>::max() ||
      !record.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return InvalidArgumentError("not a PriorityTableCheckpoint message");
  }
  TableRecord result;
  TableOptions& options = result.table.options;
  options.name = record.table_name();
  if (options.name.empty()) return InvalidArgumentError("the table has no name");
  REVERB_TF_ASSIGN_OR_RETURN(options.sampler, ParseSelector(record.sampler(), "sampler"));
  REVERB_TF_ASSIGN_OR_RETURN(options.remover, ParseSelector(record.remover(), "remover"));
  options.max_size = record.max_size();
  options.max_times_sampled = record.max_times_sampled();
  if (record.has_signature()) {
    options.signature = SerializeDeterministically(record.signature());
    REVERB_TF_RETURN_IF_ERROR(ParseSignature(*options.signature).status());
  }
  REVERB_TF_RETURN_IF_ERROR(ParseLimiter(record.rate_limiter(), &result.table));
  result.table.num_deleted_episodes = record.num_deleted_episodes();
  result.table.num_unique_samples = record.num_unique_samples();
  result.table.version = record.has_version() ? record.version() : result.table.inserts;
  for (const pb::PrioritizedItem& item : record.deprecated_items()) {
    result.old_items.push_back(item.SerializeAsString());
  }
  return result;
}

std::string CanonicalSignature(const std::string& serialized) {
  tensorflow_compat::StructuredValue signature;
  if (!signature.ParseFromString(serialized)) return serialized;
  return SerializeDeterministically(signature);
}

}  // namespace reverb_tf::wire
