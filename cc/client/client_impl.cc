#include "cc/client/client_impl.h"

#include <algorithm>
#include <utility>

#include "cc/client/sampler_core.h"
#include "cc/client/sampler_impl.h"
#include "cc/client/sampler_options.h"
#include "cc/client/structured_writer_impl.h"
#include "cc/client/trajectory_writer_impl.h"
#include "cc/client/unary_call.h"
#include "cc/client/writer_impl.h"

namespace reverb_tf::client {

ClientImpl::ClientImpl(std::shared_ptr<Endpoint> endpoint)
    : endpoint_(std::move(endpoint)),
      parts_(new Parts{
          std::make_shared<SignatureCache>(endpoint_), std::make_shared<Inserter>(endpoint_), {}}) {
}

ClientImpl::~ClientImpl() {
  if (endpoint_->fork_guard().forked()) {
    parts_.release();  // its locks may be held by threads that are missing here
    new std::shared_ptr<Endpoint>(endpoint_);
    return;
  }
  parts_->inserter->Close();
}

Result<ServerInfo> ClientImpl::GetServerInfo(const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  CallSubject subject(endpoint_.get(), "the server info");
  using R = Result<ServerInfo>;
  R info = Await<R>(endpoint_->clock(), wait, &subject, [&](std::function<void(R)> done) {
    return UnaryCall<R>::Start(
        endpoint_,
        [](Transport* transport, std::function<void(R)> callback) {
          return transport->GetServerInfo(std::move(callback));
        },
        std::move(done), subject.trouble());
  });
  if (info.ok()) parts_->signatures->Update(*info);
  return info;
}

Result<SignaturesPtr> ClientImpl::GetSignatures(const std::vector<std::string>& tables,
                                                const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  return parts_->signatures->Get(tables, wait);
}

Result<TableSignature> ClientImpl::GetSignature(const std::string& table, const WaitOptions& wait) {
  REVERB_TF_ASSIGN_OR_RETURN(const SignaturesPtr signatures, GetSignatures({table}, wait));
  REVERB_TF_ASSIGN_OR_RETURN(const TableSignature* const signature, signatures->Find(table));
  return *signature;
}

Status ClientImpl::MutatePriorities(const std::string& table, const KeyWithPriority* updates,
                                    size_t num_updates, const uint64_t* deletes, size_t num_deletes,
                                    const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  CallSubject subject(endpoint_.get(), "the answer to MutatePriorities of table '" + table + "'");
  return Await<Status>(endpoint_->clock(), wait, &subject, [&](std::function<void(Status)> done) {
    return StartMutation(table, {updates, updates + num_updates}, {deletes, deletes + num_deletes},
                         std::move(done), subject.trouble());
  });
}

std::function<void()> ClientImpl::MutatePrioritiesAsync(const std::string& table,
                                                        std::vector<KeyWithPriority> updates,
                                                        std::vector<uint64_t> deletes,
                                                        StatusCallback callback) {
  Status status = endpoint_->fork_guard().Check();
  if (!status.ok()) {
    callback(status);
    return [] {};
  }
  return StartMutation(table, std::move(updates), std::move(deletes), std::move(callback), nullptr);
}

CancelFunction ClientImpl::StartMutation(const std::string& table,
                                         std::vector<KeyWithPriority> updates,
                                         std::vector<uint64_t> deletes, StatusCallback callback,
                                         std::shared_ptr<CallTrouble> trouble) {
  std::vector<core::PriorityUpdate> core_updates;
  core_updates.reserve(updates.size());
  for (const KeyWithPriority& update : updates) {
    core_updates.push_back({update.key, update.priority});
  }
  return UnaryCall<Status>::Start(
      endpoint_,
      [table, updates = std::move(core_updates), deletes = std::move(deletes)](
          Transport* transport, std::function<void(Status)> done) {
        return transport->Mutate(table, updates, deletes, std::move(done));
      },
      std::move(callback), std::move(trouble));
}

Status ClientImpl::Reset(const std::string& table, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  CallSubject subject(endpoint_.get(), "the answer to Reset of table '" + table + "'");
  return Await<Status>(endpoint_->clock(), wait, &subject, [&](std::function<void(Status)> done) {
    return UnaryCall<Status>::Start(
        endpoint_,
        [table](Transport* transport, std::function<void(Status)> callback) {
          return transport->Reset(table, std::move(callback));
        },
        std::move(done), subject.trouble());
  });
}

Result<std::string> ClientImpl::Checkpoint(const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  CallSubject subject(endpoint_.get(), "the answer to Checkpoint");
  using R = Result<std::string>;
  return Await<R>(endpoint_->clock(), wait, &subject, [&](std::function<void(R)> done) {
    return UnaryCall<R>::Start(
        endpoint_,
        [](Transport* transport, std::function<void(R)> callback) {
          return transport->Checkpoint(std::move(callback));
        },
        std::move(done), subject.trouble());
  });
}

Result<std::unique_ptr<TrajectoryWriter>> ClientImpl::NewTrajectoryWriter(
    const TrajectoryWriterOptions& options, const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  REVERB_TF_RETURN_IF_ERROR(CheckChunkerOptions(options.chunker));
  SignaturesPtr signatures;
  if (options.validate_items && !options.lazy_signatures) {
    REVERB_TF_ASSIGN_OR_RETURN(signatures, GetSignatures({}, wait));
  }
  return std::unique_ptr<TrajectoryWriter>(std::make_unique<TrajectoryWriterImpl>(
      endpoint_, options, options.validate_items ? parts_->signatures : nullptr,
      std::move(signatures)));
}

Result<std::unique_ptr<StructuredWriter>> ClientImpl::NewStructuredWriter(
    const std::vector<std::string>& serialized_configs) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  REVERB_TF_ASSIGN_OR_RETURN(std::vector<PatternConfig> configs,
                             ParsePatternConfigs(serialized_configs));
  TrajectoryWriterOptions options;
  options.validate_items = false;
  for (const PatternConfig& config : configs) {
    options.chunker.num_keep_alive_refs =
        std::max(options.chunker.num_keep_alive_refs, config.history);
  }
  return std::unique_ptr<StructuredWriter>(std::make_unique<StructuredWriterImpl>(
      std::move(configs),
      std::make_unique<TrajectoryWriterImpl>(endpoint_, options, nullptr, nullptr),
      endpoint_->clock()));
}

Result<std::unique_ptr<Writer>> ClientImpl::NewWriter(const WriterOptions& options,
                                                      const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckWriterOptions(options));
  REVERB_TF_ASSIGN_OR_RETURN(SignaturesPtr signatures, GetSignatures({}, wait));
  return std::unique_ptr<Writer>(
      std::make_unique<WriterImpl>(endpoint_, options, parts_->signatures, std::move(signatures)));
}

Result<std::unique_ptr<Sampler>> ClientImpl::NewSampler(const SamplerOptions& options) {
  REVERB_TF_RETURN_IF_ERROR(endpoint_->fork_guard().Check());
  REVERB_TF_RETURN_IF_ERROR(CheckSamplerOptions(options));
  return std::unique_ptr<Sampler>(
      std::make_unique<SamplerImpl>(std::make_shared<SamplerCore>(endpoint_, options)));
}

}  // namespace reverb_tf::client

namespace reverb_tf {

std::shared_ptr<Client> Client::Create(std::string address, ClientOptions options) {
  return std::make_shared<client::ClientImpl>(
      std::make_shared<client::Endpoint>(std::move(address), options, core::Clock::System()));
}

}  // namespace reverb_tf
