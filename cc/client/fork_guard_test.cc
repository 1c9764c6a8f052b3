#include "cc/client/fork_guard.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "cc/client/testing/test_data.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

// Runs `child` in a forked process, which has 60 s; its exit status.
int ForkAndRun(const std::function<int()>& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(child());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

bool IsPrecondition(const Status& status) {
  return status.code() == StatusCode::kFailedPrecondition;
}

bool used = false;  // also when the tests are repeated

// First: gRPC is not in use in this process yet.
TEST(ForkTest, A_ChildForkedBeforeTheFirstUseWorks) {
  if (used) GTEST_SKIP() << "gRPC was used in this process before";
  used = true;
  const auto client = MakeClient("localhost:1", Path::kLocal);
  EXPECT_EQ(ForkAndRun([&] {
              const auto server = StartServer({UniformOptions("a")});
              const auto local = MakeClient(AddressOf(*server), Path::kLocal);
              const auto remote = MakeClient(AddressOf(*server), Path::kGrpc);
              const auto array = Scalar(1);
              for (const auto& each : {local, remote}) {
                const Status status = each->Insert(&array->view(), 1, {{"a", 1}}, Soon()).status();
                if (status.ok()) continue;
                std::fprintf(stderr, "%s\n", status.ToString().c_str());
                return 1;
              }
              return 0;
            }),
            0);
}

TEST(ForkTest, B_UsedObjectsRefuseAtOnceInTheChild) {
  for (const Path path : {Path::kLocal, Path::kGrpc}) {
    const auto server = StartServer({UniformOptions("a")});
    auto client = MakeClient(AddressOf(*server), path);
    const auto array = Scalar(1);
    ASSERT_TRUE(client->Insert(&array->view(), 1, {{"a", 1}}, Soon()).ok());
    auto writer = client->NewTrajectoryWriter({}, Soon()).value();
    StepRef ref;
    ASSERT_TRUE(writer->Append(&array->view(), 1, false, &ref).ok());
    ASSERT_TRUE(writer->CreateItem("a", 1, {{{{0, 0, 1}}, false}}, Soon()).ok());
    SamplerOptions options;
    options.table = "a";
    auto sampler = client->NewSampler(options).value();
    ASSERT_TRUE(sampler->Next(Soon()).ok());
    EXPECT_EQ(ForkAndRun([&] {
                if (!IsPrecondition(client->GetServerInfo({}).status())) return 1;
                if (!IsPrecondition(client->Insert(&array->view(), 1, {{"a", 1}}, {}).status())) {
                  return 2;
                }
                if (!IsPrecondition(writer->Append(&array->view(), 1, false, &ref))) return 3;
                if (!IsPrecondition(writer->Flush(0, {}))) return 4;
                if (!IsPrecondition(sampler->Next({}).status())) return 5;
                sampler->Close();
                writer->Close();
                // A new client would need gRPC, which was in use at the fork.
                const auto fresh = Client::Create(AddressOf(*server));
                if (!IsPrecondition(fresh->GetServerInfo({}).status())) return 6;
                sampler.reset();
                writer.reset();
                client.reset();
                return 0;
              }),
              0);
    EXPECT_TRUE(writer->Flush(0, Soon()).ok());
  }
}

TEST(ForkTest, C_ClosedChannelsAreNotForgotten) {
  {
    const auto server = StartServer({UniformOptions("a")});
    EXPECT_TRUE(MakeClient(AddressOf(*server), Path::kGrpc)->GetServerInfo(Soon()).ok());
  }
  EXPECT_EQ(ForkAndRun([&] {
              return IsPrecondition(Client::Create("localhost:1")->GetServerInfo({}).status()) ? 0
                                                                                               : 1;
            }),
            0);
}

}  // namespace
}  // namespace reverb_tf::client
