#include "cc/server/client_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reverb_tf::server {
namespace {

// 0: no socket.
ino_t InodeOf(int socket) {
  struct stat stat {};
  return fstat(socket, &stat) == 0 && S_ISSOCK(stat.st_mode) ? stat.st_ino : 0;
}

void ShutDown(int socket, ino_t inode) {
  // What is looked at is what is shut down, whatever becomes of the number meanwhile.
  const int same = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  if (same == -1) return;
  if (InodeOf(same) == inode) shutdown(same, SHUT_RDWR);
  close(same);
}

}  // namespace

void ClientSockets::Add(int socket) {
  const ino_t inode = InodeOf(socket);
  if (inode == 0) return;
  MutexLock lock(&mu_);
  if (cut_off_) {
    ShutDown(socket, inode);
  } else {
    inodes_[socket] = inode;
  }
}

void ClientSockets::CutOff() {
  MutexLock lock(&mu_);
  cut_off_ = true;
  for (const auto& [socket, inode] : inodes_) ShutDown(socket, inode);
  inodes_.clear();
}

}  // namespace reverb_tf::server
