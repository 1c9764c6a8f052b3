// The connections of a server's clients.
#ifndef REVERB_TF_SERVER_CLIENT_SOCKETS_H_
#define REVERB_TF_SERVER_CLIENT_SOCKETS_H_

#include <sys/types.h>

#include <unordered_map>

#include "cc/core/mutex.h"

namespace reverb_tf::server {

// Cuts off clients that do not read: gRPC ends neither a call nor itself while it writes to one,
// until the system gives up after 20 s. Thread-safe.
class ClientSockets {
 public:
  // A socket of a new connection, which belongs to gRPC. After CutOff, it is cut off at once.
  void Add(int socket);

  // Shuts down those that are still open. What is in their send buffers is sent.
  void CutOff();

 private:
  Mutex mu_;
  bool cut_off_ GUARDED_BY(mu_) = false;
  // By number, of which there are no more than were open at one time. A number may be that of
  // another file by now; the inode tells.
  std::unordered_map<int, ino_t> inodes_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_CLIENT_SOCKETS_H_
