// The smallest probability in the tables of some servers. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_LEAST_PROBABILITY_H_
#define REVERB_TF_OPS_LEAST_PROBABILITY_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "reverb_tf/client.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler_priorities.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::ops {

// A sample's own priority and probability, and the smallest priority in its table, give the
// smallest probability in the table. Each server is asked for that priority, at most once in
// kRefreshAfter. Thread-safe.
class LeastProbability {
 public:
  static constexpr Duration kRefreshAfter = std::chrono::seconds(1);
  // How long a server has to answer. One that has answered before and does not now is taken at its
  // last word.
  static constexpr Duration kTimeout = std::chrono::seconds(5);

  LeastProbability(std::vector<std::shared_ptr<Client>> clients, std::string table)
      : clients_(std::move(clients)), table_(std::move(table)), tables_(clients_.size()) {}

  // The smallest N P (table size and probability) of any item of the tables that samples came from
  // so far. `servers` are the indices of the clients of `samples`. Blocks while a server is asked;
  // `interrupted` as in WaitOptions. UNIMPLEMENTED: a server does not say its smallest priority.
  Result<double> Of(const std::vector<SampleInfo>& samples, const std::vector<int>& servers,
                    const std::function<bool()>& interrupted);

 private:
  using Clock = std::chrono::steady_clock;
  struct Table {
    bool known = false;
    SamplerPriorities priorities;
    Clock::time_point asked_at;
    double least = 0;  // N P; 0: not known yet
  };

  // Asks the server if it was not asked lately.
  Status Refresh(int server, const std::function<bool()>& interrupted);

  const std::vector<std::shared_ptr<Client>> clients_;
  const std::string table_;
  std::mutex mu_;
  std::vector<Table> tables_;  // guarded by mu_
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_LEAST_PROBABILITY_H_
