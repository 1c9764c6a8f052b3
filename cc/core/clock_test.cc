#include "cc/core/clock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "cc/core/mutex.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(SystemClockTest, CallsInOrderOfTime) {
  Clock* clock = Clock::System();
  const TimePoint start = clock->Now();
  Mutex mu;
  std::vector<int> called;
  std::promise<void> last;
  const auto call = [&](int i) {
    MutexLock lock(&mu);
    called.push_back(i);
    if (called.size() == 3) last.set_value();
  };
  clock->CallAt(start + milliseconds(30), [&] { call(3); });
  clock->CallAt(start + milliseconds(20), [&] { call(2); });
  clock->CallAt(start + milliseconds(10), [&] { call(1); });
  last.get_future().wait();
  EXPECT_GE(clock->Now(), start + milliseconds(30));
  MutexLock lock(&mu);
  EXPECT_EQ(called.size(), 3u);
}

TEST(SystemClockTest, PastMeansAtOnceOnAnotherThread) {
  std::promise<std::thread::id> thread;
  Clock::System()->CallAt(TimePoint(), [&] { thread.set_value(std::this_thread::get_id()); });
  EXPECT_NE(thread.get_future().get(), std::this_thread::get_id());
}

TEST(SystemClockTest, Cancel) {
  Clock* clock = Clock::System();
  const Clock::TimerId id = clock->CallAt(clock->Now() + hours(1), [] { FAIL(); });
  EXPECT_NE(id, Clock::kNoTimer);
  EXPECT_TRUE(clock->Cancel(id));
  EXPECT_FALSE(clock->Cancel(id));
  EXPECT_FALSE(clock->Cancel(Clock::kNoTimer));
}

TEST(SystemClockTest, CallbackMaySetAndCancelTimers) {
  Clock* clock = Clock::System();
  std::promise<bool> done;
  clock->CallAt(clock->Now(), [&] {
    const Clock::TimerId id = clock->CallAt(clock->Now() + hours(1), [] {});
    const bool cancelled = clock->Cancel(id);
    clock->CallAt(clock->Now(), [&done, cancelled] { done.set_value(cancelled); });
  });
  EXPECT_TRUE(done.get_future().get());
}

TEST(SystemClockTest, WorksInAForkedChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not let a forked child start threads";
#endif
  std::promise<void> started;  // so that the parent has its thread
  Clock::System()->CallAt(TimePoint(), [&] { started.set_value(); });
  started.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    std::promise<void> called;
    Clock::System()->CallAt(TimePoint(), [&] { called.set_value(); });
    _exit(called.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready ? 0
                                                                                              : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace reverb_tf::core
