#include "cc/client/local_sample_stream.h"

#include <optional>
#include <utility>
#include <vector>

#include "cc/client/local_insert_stream.h"
#include "cc/client/wait.h"
#include "cc/core/mutex.h"
#include "cc/core/table.h"

namespace reverb_tf::client {
namespace {

// A request is answered in parts: whenever the table had less than what is left, the rest is asked
// for again, with the full timeout. One thread at a time "drives": it calls the table and delivers;
// a result that comes while another thread drives is left to that thread, so that nothing nests
// however often the table answers at once.
class LocalSampleStream : public SampleStream,
                          public std::enable_shared_from_this<LocalSampleStream> {
 public:
  LocalSampleStream(std::shared_ptr<core::Table> table, std::string name,
                    std::shared_ptr<SampleStreamObserver> observer, core::Clock* clock)
      : table_(std::move(table)),
        name_(std::move(name)),
        clock_(clock),
        observer_(std::move(observer)) {}

  void Request(const SampleRequest& request) override {
    if (table_ == nullptr) return Finish(TableNotFoundError(name_));
    {
      MutexLock lock(&mu_);
      left_ += request.n;
      request_ = request;
      if (driving_) return;
      driving_ = true;
    }
    Drive();
  }

  void Cancel() override { Finish(CancelledError("The stream was cancelled.")); }

 private:
  using SampleResult = core::Table::SampleResult;

  void OnResult(SampleResult result) {
    {
      MutexLock lock(&mu_);
      waiting_ = false;
      ticket_.reset();
      result_ = std::move(result);
      if (driving_) return;
      driving_ = true;
    }
    Drive();
  }

  // Called by the thread that has set driving_.
  void Drive() {
    while (true) {
      std::optional<SampleResult> result;
      std::shared_ptr<SampleStreamObserver> observer;
      core::Table::SampleOptions options;
      {
        MutexLock lock(&mu_);
        result.swap(result_);
        observer = observer_;
        if (result) left_ -= static_cast<int64_t>(result->items.size());
        if (observer == nullptr || waiting_ || (!result && left_ <= 0)) {
          driving_ = false;
          return;
        }
        if (!result) {
          waiting_ = true;
          options.num_samples = left_;
          options.deadline = request_.timeout <= Duration::zero()
                                 ? core::TimePoint::min()
                                 : DeadlineAfter(clock_->Now(), request_.timeout);
          options.min_version = request_.min_version.value_or(0);
          options.unless_version = request_.unless_version;
        }
      }
      if (!result) {
        Ask(options);
      } else if (result->status.ok()) {
        observer->OnSamples(std::move(result->items));
      } else {
        Finish(result->status);
      }
    }
  }

  void Ask(const core::Table::SampleOptions& options) {
    const core::Table::Ticket ticket = table_->Sample(
        options,
        [self = shared_from_this()](SampleResult result) { self->OnResult(std::move(result)); });
    bool cancel = false;
    {
      MutexLock lock(&mu_);
      if (!waiting_) return;
      ticket_ = ticket;
      cancel = observer_ == nullptr;
    }
    if (cancel) table_->CancelSample(ticket);
  }

  void Finish(const Status& why) {
    std::shared_ptr<SampleStreamObserver> observer;
    std::optional<core::Table::Ticket> ticket;
    {
      MutexLock lock(&mu_);
      observer.swap(observer_);
      ticket.swap(ticket_);
    }
    if (ticket) table_->CancelSample(*ticket);
    if (observer != nullptr) observer->OnClosed(why);
  }

  const std::shared_ptr<core::Table> table_;  // null: there is none of this name
  const std::string name_;
  core::Clock* const clock_;

  Mutex mu_;
  std::shared_ptr<SampleStreamObserver> observer_ GUARDED_BY(mu_);  // null: ended
  int64_t left_ GUARDED_BY(mu_) = 0;  // asked of this stream and not delivered
  SampleRequest request_ GUARDED_BY(mu_);
  bool driving_ GUARDED_BY(mu_) = false;
  bool waiting_ GUARDED_BY(mu_) = false;                       // the table has a request of ours
  std::optional<core::Table::Ticket> ticket_ GUARDED_BY(mu_);  // of it, once known
  std::optional<SampleResult> result_ GUARDED_BY(mu_);         // of it, not delivered yet
};

}  // namespace

std::shared_ptr<SampleStream> MakeLocalSampleStream(
    const std::shared_ptr<const core::LocalServer>& server, const std::string& table,
    std::shared_ptr<SampleStreamObserver> observer, core::Clock* clock) {
  return std::make_shared<LocalSampleStream>(server->Find(table), table, std::move(observer),
                                             clock);
}

}  // namespace reverb_tf::client
