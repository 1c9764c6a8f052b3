// Sockets between two processes of one machine.
#ifndef REVERB_TF_WIRE_LOCAL_SOCKET_H_
#define REVERB_TF_WIRE_LOCAL_SOCKET_H_

namespace reverb_tf::wire {

// What Linux is told; it counts in twice as much.
inline constexpr int kLocalSendBuffer = 512 << 10;

// For a socket within one machine. Linux lets its send buffer grow to megabytes, and fills it
// before the other process may read: a large message is then copied in and out of memory that is in
// no cache any more, by one process after the other. Where there is a network in between, the
// buffer is as large as it needs to be, and is to stay so.
void LimitSendBuffer(int socket);

// Whether both ends of a connected socket have one address.
bool IsWithinMachine(int socket);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_LOCAL_SOCKET_H_
