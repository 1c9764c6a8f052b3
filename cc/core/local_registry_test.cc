#include "cc/core/local_registry.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

std::shared_ptr<const LocalServer> MakeServer() {
  TableOptions options;
  options.name = "a";
  options.max_size = 1;
  auto server = std::make_shared<LocalServer>();
  server->tables = {Table::Create(options).value()};
  return server;
}

TEST(LocalServerTest, FindsTables) {
  const auto server = MakeServer();
  EXPECT_EQ(server->Find("a"), server->tables[0]);
  EXPECT_EQ(server->Find("b"), nullptr);
}

TEST(LocalRegistryTest, LoopbackAddresses) {
  LocalRegistry registry;
  const auto server = MakeServer();
  registry.Add(8000, server);
  for (const char* address : {"localhost:8000", "127.0.0.1:8000", "127.1.2.255:8000", "[::1]:8000",
                              "dns:///localhost:8000", "ipv4:127.0.0.1:8000", "ipv6:[::1]:8000"}) {
    EXPECT_EQ(registry.Find(address), server) << address;
  }
  for (const char* address : {"localhost:8001",
                              "localhost",
                              "localhost:",
                              "localhost:80000",
                              "localhost:8000x",
                              ":8000",
                              "8000",
                              "",
                              "10.0.0.1:8000",
                              "127.0.0.256:8000",
                              "127.0.0:8000",
                              "127.0.0.1.1:8000",
                              "127.0.0.1.evil.com:8000",
                              "localhost.evil.com:8000",
                              "[fe80::1]:8000",
                              "[::1:8000",
                              "::1:8000",
                              "unix:localhost:8000",
                              "127.0.0.:8000",
                              "127..0.1:8000",
                              "localhost:-8000",
                              "localhost: 8000",
                              "dns:///dns:///localhost:8000"}) {
    EXPECT_EQ(registry.Find(address), nullptr) << address;
  }
}

TEST(LocalRegistryTest, AddAndRemove) {
  LocalRegistry registry;
  registry.Remove(1);
  const auto one = MakeServer();
  const auto two = MakeServer();
  registry.Add(1, one);
  registry.Add(2, two);
  EXPECT_EQ(registry.Find("localhost:1"), one);
  EXPECT_EQ(registry.Find("localhost:2"), two);
  registry.Remove(1);
  EXPECT_EQ(registry.Find("localhost:1"), nullptr);
  registry.Add(2, one);
  EXPECT_EQ(registry.Find("localhost:2"), one);
  EXPECT_EQ(two.use_count(), 1);
}

TEST(LocalRegistryTest, ForkedChildFindsNothing) {
  LocalRegistry::Global()->Add(8000, MakeServer());
  ASSERT_NE(LocalRegistry::Global()->Find("localhost:8000"), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_empty = LocalRegistry::Global()->Find("localhost:8000") == nullptr;
    LocalRegistry::Global()->Add(8000, nullptr);  // and it works
    _exit(is_empty ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  LocalRegistry::Global()->Remove(8000);
}

}  // namespace
}  // namespace reverb_tf::core
