// MutatePrioritiesRequest, which may have thousands of keys, read and written by hand.
#ifndef REVERB_TF_WIRE_MUTATE_REQUEST_H_
#define REVERB_TF_WIRE_MUTATE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cc/core/table.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

struct MutateRequest {
  std::string table;
  std::vector<core::PriorityUpdate> updates;
  std::vector<uint64_t> deletes;
};

// INVALID_ARGUMENT for a malformed message.
Result<MutateRequest> ParseMutateRequest(const grpc::ByteBuffer& message);

grpc::ByteBuffer SerializeMutateRequest(const std::string& table,
                                        const core::PriorityUpdate* updates, size_t num_updates,
                                        const uint64_t* deletes, size_t num_deletes);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_MUTATE_REQUEST_H_
