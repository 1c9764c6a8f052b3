// The sockets of a client and a server on one machine: cc/wire/local_socket.h.
#include "cc/wire/local_socket.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

int SendBuffer(int socket) {
  int size = 0;
  socklen_t length = sizeof(size);
  getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, &length);
  return size;
}

// What the system makes of the limit: it may have a lower one.
int LimitedSendBuffer() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wire::kLocalSendBuffer,
             sizeof(wire::kLocalSendBuffer));
  const int size = SendBuffer(socket);
  close(socket);
  return size;
}

// Of all connections of this process within this machine.
std::vector<int> SendBuffers() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> sizes;
  for (int fd = 0; fd < 4096 && fd < static_cast<int>(limit.rlim_cur); ++fd) {
    if (wire::IsWithinMachine(fd)) sizes.push_back(SendBuffer(fd));
  }
  return sizes;
}

TEST(LocalSocketTest, BothEndsOfAConnectionHaveTheLimitedBuffer) {
  const std::unique_ptr<Server> server = StartServer({QueueOptions("q", 1)});
  const std::shared_ptr<Client> client = MakeClient(AddressOf(*server), Path::kGrpc);
  ASSERT_TRUE(client->GetServerInfo(Soon()).ok());
  EXPECT_THAT(SendBuffers(), testing::ElementsAre(LimitedSendBuffer(), LimitedSendBuffer()));
}

TEST(LocalSocketTest, WhatIsNoConnectionIsNotWithinTheMachine) {
  EXPECT_FALSE(wire::IsWithinMachine(-1));
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_FALSE(wire::IsWithinMachine(socket));
  close(socket);
}

}  // namespace
}  // namespace reverb_tf::client
