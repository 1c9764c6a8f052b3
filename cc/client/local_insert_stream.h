// An insert stream into tables of this process.
#ifndef REVERB_TF_CLIENT_LOCAL_INSERT_STREAM_H_
#define REVERB_TF_CLIENT_LOCAL_INSERT_STREAM_H_

#include <memory>
#include <string>

#include "cc/client/transport.h"
#include "cc/core/local_registry.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Like a gRPC stream it stops taking batches while a table's soft limit of parked items is
// exceeded, and ends with the first error: NOT_FOUND for an unknown table, INVALID_ARGUMENT for a
// refused item, CANCELLED for a closed table.
std::shared_ptr<InsertStream> MakeLocalInsertStream(std::shared_ptr<const core::LocalServer> server,
                                                    std::shared_ptr<InsertStreamObserver> observer);

// "Priority table T was not found."
Status TableNotFoundError(const std::string& table);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_LOCAL_INSERT_STREAM_H_
