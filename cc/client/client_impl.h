// The client: unary calls, signatures, and what makes writers and samplers.
#ifndef REVERB_TF_CLIENT_CLIENT_IMPL_H_
#define REVERB_TF_CLIENT_CLIENT_IMPL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/inserter.h"
#include "cc/client/signature.h"
#include "cc/client/signature_cache.h"
#include "cc/client/step_encoder.h"
#include "cc/client/unary_call.h"
#include "reverb_tf/client.h"

namespace reverb_tf::client {

class ClientImpl : public Client {
 public:
  explicit ClientImpl(std::shared_ptr<Endpoint> endpoint);
  ~ClientImpl() override;

  const std::string& address() const override { return endpoint_->address(); }
  Result<ServerInfo> GetServerInfo(const WaitOptions& wait) override;
  Result<TableSignature> GetSignature(const std::string& table, const WaitOptions& wait) override;
  Status MutatePriorities(const std::string& table, const KeyWithPriority* updates,
                          size_t num_updates, const uint64_t* deletes, size_t num_deletes,
                          const WaitOptions& wait) override;
  std::function<void()> MutatePrioritiesAsync(const std::string& table,
                                              std::vector<KeyWithPriority> updates,
                                              std::vector<uint64_t> deletes,
                                              StatusCallback callback) override;
  Status Reset(const std::string& table, const WaitOptions& wait) override;
  Result<std::string> Checkpoint(const WaitOptions& wait) override;
  // client_items.cc
  Result<std::vector<Sample>> Get(const std::string& table, const uint64_t* keys, size_t n,
                                  const WaitOptions& wait) override;
  Result<ItemPage> ListItems(const std::string& table, uint64_t start, int32_t max_items,
                             const WaitOptions& wait) override;
  Result<int64_t> Delete(const std::string& table, const uint64_t* keys, size_t n,
                         const WaitOptions& wait) override;
  std::function<void()> DeleteAsync(const std::string& table, std::vector<uint64_t> keys,
                                    CountCallback callback) override;
  Status SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                        const WaitOptions& wait) override;
  // client_inserts.cc
  Result<std::vector<uint64_t>> Insert(const TensorView* values, int32_t n,
                                       const std::vector<TableAndPriority>& targets,
                                       const WaitOptions& wait) override;
  std::function<void()> InsertAsync(const TensorView* values, int32_t n,
                                    std::vector<TableAndPriority> targets,
                                    std::shared_ptr<const void> owner,
                                    KeysCallback callback) override;
  std::function<void()> InsertBatchAsync(const TensorView* values, int32_t n,
                                         const std::string& table, std::vector<double> priorities,
                                         KeysCallback callback) override;
  // client_impl.cc
  Result<std::unique_ptr<TrajectoryWriter>> NewTrajectoryWriter(
      const TrajectoryWriterOptions& options, const WaitOptions& wait) override;
  Result<std::unique_ptr<StructuredWriter>> NewStructuredWriter(
      const std::vector<std::string>& serialized_configs) override;
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options,
                                            const WaitOptions& wait) override;
  Result<std::unique_ptr<Sampler>> NewSampler(const SamplerOptions& options) override;

 private:
  // Leaked in a forked child.
  struct Parts {
    std::shared_ptr<SignatureCache> signatures;
    std::shared_ptr<Inserter> inserter;
    StepEncoder encoder;
  };

  // Makes the call and waits for it; `name` is that of the RPC.
  template <typename R, typename Call>
  R CallTable(const char* name, const std::string& table, const WaitOptions& wait, Call call);
  Result<SignaturesPtr> GetSignatures(const std::vector<std::string>& tables,
                                      const WaitOptions& wait);
  CancelFunction StartMutation(const std::string& table, std::vector<KeyWithPriority> updates,
                               std::vector<uint64_t> deletes, StatusCallback callback,
                               std::shared_ptr<CallTrouble> trouble);
  // client_items.cc
  Status WithoutCall(const char* name) const;
  // client_inserts.cc
  CancelFunction InsertStep(const TensorView* values, int32_t n,
                            std::vector<TableAndPriority> targets,
                            std::shared_ptr<const void> owner, KeysCallback callback,
                            std::shared_ptr<CallTrouble> trouble);
  // Makes the request when the signatures of the tables are there, and inserts it.
  CancelFunction StartInsert(const std::vector<std::string>& tables,
                             std::function<Result<InsertRequest>(const Signatures&)> make_request,
                             KeysCallback callback, std::shared_ptr<CallTrouble> trouble);

  const std::shared_ptr<Endpoint> endpoint_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_CLIENT_IMPL_H_
