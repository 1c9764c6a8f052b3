// A free port for a server of the loopback.
#ifndef REVERB_TF_SERVER_LOOPBACK_PORT_H_
#define REVERB_TF_SERVER_LOOPBACK_PORT_H_

#include <string>

namespace reverb_tf::server {

// A port that nobody has on either of 127.0.0.1 and ::1. A server may listen on one of them only,
// but clients of "localhost" try both: who has the port on the other would get their calls.
//
// While this object lives no process is given the port; one that asks for it, as a server does,
// gets it.
class LoopbackPort {
 public:
  // Takes one if `host` is such an address or "localhost".
  explicit LoopbackPort(const std::string& host);
  ~LoopbackPort() { Close(); }
  LoopbackPort(const LoopbackPort&) = delete;
  LoopbackPort& operator=(const LoopbackPort&) = delete;

  // 0: it has none; any port will do.
  int port() const { return port_; }

 private:
  void Take();
  void Close();

  int v4_ = -1;
  int v6_ = -1;
  int port_ = 0;
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_LOOPBACK_PORT_H_
