// std::mutex and std::condition_variable with clang's thread-safety annotations.
#ifndef REVERB_TF_CORE_MUTEX_H_
#define REVERB_TF_CORE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define REVERB_TF_ATTRIBUTE(x) __attribute__((x))
#else
#define REVERB_TF_ATTRIBUTE(x)
#endif

// Abseil has some of these names, with the same meaning.
#undef GUARDED_BY
#undef PT_GUARDED_BY
#undef NO_THREAD_SAFETY_ANALYSIS

#define CAPABILITY(x) REVERB_TF_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY REVERB_TF_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) REVERB_TF_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) REVERB_TF_ATTRIBUTE(pt_guarded_by(x))
#define REQUIRES(...) REVERB_TF_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) REVERB_TF_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) REVERB_TF_ATTRIBUTE(release_capability(__VA_ARGS__))
#define EXCLUDES(...) REVERB_TF_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS REVERB_TF_ATTRIBUTE(no_thread_safety_analysis)

namespace reverb_tf {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() { mu_.lock(); }
  void Unlock() RELEASE() { mu_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() RELEASE() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Waits may return spuriously: check the condition in a loop.
class CondVar {
 public:
  void Wait(Mutex* mu) REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // False when the deadline has passed.
  bool WaitUntil(Mutex* mu, std::chrono::steady_clock::time_point deadline) REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    const bool in_time = cv_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_CORE_MUTEX_H_
