#include "cc/ops/serial_queue.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::ops {
namespace {

using testing::ElementsAre;

TEST(SerialQueueTest, AJobBeginsAtOnceIfNoneIsUnderWay) {
  SerialQueue queue;
  for (int i = 0; i < 3; ++i) {
    bool ran = false;
    queue.Run([&](SerialQueue::Done done) {
      ran = true;
      done();
    });
    EXPECT_TRUE(ran);
  }
}

TEST(SerialQueueTest, JobsBeginInOrderWhenTheOneBeforeHasFinished) {
  SerialQueue queue;
  std::vector<int> began;
  SerialQueue::Done finish;
  for (int i = 0; i < 3; ++i) {
    queue.Run([&, i](SerialQueue::Done done) {
      began.push_back(i);
      finish = std::move(done);
    });
  }
  EXPECT_THAT(began, ElementsAre(0));
  std::exchange(finish, nullptr)();
  EXPECT_THAT(began, ElementsAre(0, 1));
  std::exchange(finish, nullptr)();
  EXPECT_THAT(began, ElementsAre(0, 1, 2));
  finish();
}

TEST(SerialQueueTest, AJobMayAddJobs) {
  SerialQueue queue;
  int left = 100'000;
  std::function<void(SerialQueue::Done)> job = [&](SerialQueue::Done done) {
    if (--left > 0) queue.Run(job);
    done();
  };
  queue.Run(job);
  EXPECT_EQ(left, 0);
}

TEST(SerialQueueTest, ManyQueuedJobsNeedNoStack) {
  SerialQueue queue;
  SerialQueue::Done finish;
  queue.Run([&](SerialQueue::Done done) { finish = std::move(done); });
  int ran = 0;
  for (int i = 0; i < 100'000; ++i) {
    queue.Run([&](SerialQueue::Done done) {
      ++ran;
      done();
    });
  }
  EXPECT_EQ(ran, 0);
  finish();
  EXPECT_EQ(ran, 100'000);
}

TEST(SerialQueueTest, NoTwoJobsAtTheSameTime) {
  const auto queue = std::make_shared<SerialQueue>();
  std::atomic<int> running{0};
  std::atomic<int> finished{0};
  int count = 0;  // guarded by the queue
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        queue->Run([&, i](SerialQueue::Done done) {
          EXPECT_EQ(++running, 1);
          ++count;
          auto end = [&, done = std::move(done)] {
            --running;
            ++finished;
            done();
          };
          if (i % 100 == 0) {
            std::thread([queue, end] { end(); }).detach();  // it may go on with other jobs
          } else {
            end();
          }
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (finished < 4000) std::this_thread::yield();
  EXPECT_EQ(count, 4000);
}

}  // namespace
}  // namespace reverb_tf::ops
