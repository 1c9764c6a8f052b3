// Writes a server's checkpoints, on a thread of its own.
#ifndef REVERB_TF_SERVER_CHECKPOINTER_H_
#define REVERB_TF_SERVER_CHECKPOINTER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cc/checkpoint/store.h"
#include "cc/core/clock.h"
#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::server {

// Thread-safe. One checkpoint is written at a time; all requests that come while one is written get
// the next.
class Checkpointer : public std::enable_shared_from_this<Checkpointer> {
 public:
  using Callback = std::function<void(Result<std::string>)>;
  using Warn = std::function<void(const std::string& line)>;

  // `every`: a checkpoint is written so long after the last one; zero: only on request. `warn`
  // hears of those that failed without a request.
  Checkpointer(std::unique_ptr<checkpoint::Store> store,
               std::vector<std::shared_ptr<core::Table>> tables, Duration every, Warn warn);
  // Stop() has been called, or Start() has not.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Once.
  void Start();

  // The callback comes once, from any thread; CANCELLED after Stop(). Does not block.
  void Request(Callback callback);
  // The same, waited for.
  Result<std::string> RequestAndWait(const WaitOptions& wait);

  // Waits for the checkpoint that is being written: `patience`, then it is interrupted. One that
  // does not end for so long after that (the disk hangs) is abandoned. For one thread; again does
  // nothing.
  void Stop(Duration patience, Duration patience_when_interrupted);

  bool interrupted() const { return interrupted_; }

 private:
  void Run();
  // Until there is something to do; false: stopped.
  bool WaitForWork() EXCLUDES(mu_);
  Result<std::string> Save();
  bool WaitUntilEnded(Duration limit) EXCLUDES(mu_);
  static void Answer(std::vector<Callback> callbacks, const Result<std::string>& result);

  const std::unique_ptr<checkpoint::Store> store_;  // of the thread
  const std::vector<std::shared_ptr<core::Table>> tables_;
  const Duration every_;
  const Warn warn_;
  std::atomic<bool> interrupted_{false};
  std::thread thread_;

  Mutex mu_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mu_) = false;
  bool ended_ GUARDED_BY(mu_) = false;             // the thread
  std::vector<Callback> waiting_ GUARDED_BY(mu_);  // for the next checkpoint
  std::vector<Callback> served_ GUARDED_BY(mu_);   // by the one that is being written
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_CHECKPOINTER_H_
