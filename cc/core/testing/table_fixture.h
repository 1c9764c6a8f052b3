// What tests of tables begin with.
#ifndef REVERB_TF_CORE_TESTING_TABLE_FIXTURE_H_
#define REVERB_TF_CORE_TESTING_TABLE_FIXTURE_H_

#include <cstdint>
#include <memory>

#include "cc/core/table.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/test_items.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {

inline RateLimiterOptions QueueLimiter(int64_t size) {
  return {1.0, 1, 0.0, static_cast<double>(size)};
}

class TableTest : public ::testing::Test {
 protected:
  static TableOptions Options(SelectorOptions::Kind sampler = SelectorOptions::Kind::kFifo,
                              SelectorOptions::Kind remover = SelectorOptions::Kind::kFifo) {
    TableOptions options;
    options.name = "replay";
    options.sampler.kind = sampler;
    options.remover.kind = remover;
    options.max_size = 100;
    options.seed = 1;
    return options;
  }
  std::shared_ptr<Table> Make(const TableOptions& options) {
    return Table::Create(options, &clock_).value();
  }
  std::shared_ptr<Table> MakeQueue(int64_t size) {
    TableOptions options = Options();
    options.max_size = size;
    options.max_times_sampled = 1;
    options.rate_limiter = QueueLimiter(size);
    return Make(options);
  }

  FakeClock clock_;
  std::shared_ptr<RecordingObserver> observer_ = std::make_shared<RecordingObserver>();
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TESTING_TABLE_FIXTURE_H_
