#include "cc/wire/table_info.h"

#include "proto/schema.pb.h"

namespace reverb_tf::wire {

void FillSelector(const SelectorOptions& from, bool is_deterministic,
                  deepmind::reverb::KeyDistributionOptions* to) {
  to->set_is_deterministic(is_deterministic);
  switch (from.kind) {
    case SelectorOptions::Kind::kFifo:
      to->set_fifo(true);
      return;
    case SelectorOptions::Kind::kLifo:
      to->set_lifo(true);
      return;
    case SelectorOptions::Kind::kUniform:
      to->set_uniform(true);
      return;
    case SelectorOptions::Kind::kPrioritized:
      to->mutable_prioritized()->set_priority_exponent(from.priority_exponent);
      return;
    case SelectorOptions::Kind::kMinHeap:
      to->mutable_heap()->set_min_heap(true);
      return;
    case SelectorOptions::Kind::kMaxHeap:
      to->mutable_heap()->set_min_heap(false);
      return;
  }
}

void FillTableInfo(const core::TableInfo& from, deepmind::reverb::TableInfo* info) {
  info->set_name(from.name);
  FillSelector(from.sampler, from.sampler_is_deterministic, info->mutable_sampler_options());
  FillSelector(from.remover, from.remover_is_deterministic, info->mutable_remover_options());
  info->set_max_size(from.max_size);
  info->set_max_times_sampled(from.max_times_sampled);
  auto* limiter = info->mutable_rate_limiter_info();
  limiter->set_samples_per_insert(from.rate_limiter.samples_per_insert);
  limiter->set_min_diff(from.rate_limiter.min_diff);
  limiter->set_max_diff(from.rate_limiter.max_diff);
  limiter->set_min_size_to_sample(from.rate_limiter.min_size_to_sample);
  limiter->mutable_insert_stats()->set_completed(from.inserts);
  limiter->mutable_sample_stats()->set_completed(from.samples);
  if (from.signature && !info->mutable_signature()->ParseFromString(*from.signature)) {
    info->clear_signature();
  }
  info->set_current_size(from.current_size);
  info->set_num_episodes(from.num_episodes);
  info->set_num_deleted_episodes(from.num_deleted_episodes);
  info->set_num_unique_samples(from.num_unique_samples);
  if (from.priorities.min <= from.priorities.max) {
    info->set_priority_min(from.priorities.min);
    info->set_priority_max(from.priorities.max);
    info->set_priority_sum(from.priorities.sum);
    if (from.priorities.min_positive <= from.priorities.max)
      info->set_priority_min_positive(from.priorities.min_positive);
  }
  info->set_data_bytes(from.data_bytes);
  info->set_memory_bytes(from.memory_bytes);
  info->set_samples_allowed(from.samples_allowed);
  info->set_inserts_allowed(from.inserts_allowed);
  info->set_waiting_samples(from.waiting_samples);
  info->set_waiting_inserts(from.waiting_inserts);
  info->set_sample_state(from.sample_state);
  info->set_insert_state(from.insert_state);
  info->set_version(from.version);
}

std::string SerializeTableInfo(const core::TableInfo& info) {
  deepmind::reverb::TableInfo proto;
  FillTableInfo(info, &proto);
  return proto.SerializeAsString();
}

}  // namespace reverb_tf::wire
