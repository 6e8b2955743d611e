// A server over pipes: lines that come in pieces, two calls at once, a client that goes away.

#include "mcp/protocol/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "base/write_all.h"
#include "test/mcp/fake_tools.h"

namespace oplens::test::transport_test {
namespace {

using mcp::Json;
using testing::HasSubstr;

constexpr char kInitialize[] =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})"
    "\n";

class TransportTest : public testing::Test {
 protected:
  TransportTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(to_.data()), 0);
    EXPECT_EQ(::pipe(from_.data()), 0);
    server_ = std::thread([this] {
      mcp::Serve(to_[0], from_[1], {"oplens", "oplens", "1", ""}, &tools_);
      ::close(from_[1]);
    });
  }
  ~TransportTest() override {
    CloseInput();
    if (server_.joinable()) server_.join();
    ::close(to_[0]);
    CloseOutput();
  }

  void Send(std::string_view text) { EXPECT_TRUE(WriteAll(to_[1], text)); }
  void CloseInput() {
    if (to_[1] >= 0) ::close(std::exchange(to_[1], -1));
  }
  void CloseOutput() {
    if (from_[0] >= 0) ::close(std::exchange(from_[0], -1));
  }
  /// The next line; "" at the end.
  std::string Line() {
    std::string line;
    char c = 0;
    while (::read(from_[0], &c, 1) == 1) {
      if (c == '\n') return line;
      line.push_back(c);
    }
    return line;
  }
  void Join() { server_.join(); }

 private:
  FakeTools tools_;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::thread server_;
};

std::string CallOf(int id, const std::string& tool, const std::string& meta = "") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + tool + "\"" + meta + "}}\n";
}

TEST_F(TransportTest, LinesMayComeInPieces) {
  const std::string text = kInitialize;
  for (const char c : text) Send({&c, 1});
  EXPECT_EQ(Json::parse(Line())["id"], 0);
  Send("\n  \r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n");
  EXPECT_EQ(Json::parse(Line())["id"], 1);
}

TEST_F(TransportTest, ASecondCallIsAnsweredWhileTheFirstRuns) {
  Send(kInitialize);
  Line();
  Send(CallOf(1, "wait") + CallOf(2, "echo"));
  EXPECT_EQ(Json::parse(Line())["id"], 2);
  Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"
       "\n" +
       CallOf(3, "echo"));
  EXPECT_EQ(Json::parse(Line())["id"], 3);
}

TEST_F(TransportTest, ProgressComesBeforeTheAnswer) {
  Send(kInitialize);
  Line();
  Send(CallOf(1, "echo", R"(,"_meta":{"progressToken":"p"})"));
  const Json progress = Json::parse(Line());
  EXPECT_EQ(progress["method"], "notifications/progress");
  EXPECT_EQ(progress["params"]["progressToken"], "p");
  EXPECT_EQ(Json::parse(Line())["id"], 1);
}

TEST_F(TransportTest, CallsThatRunWhenTheInputEndsAreAnswered) {
  Send(kInitialize);
  Line();
  std::string calls;
  for (int i = 1; i <= 20; ++i) calls += CallOf(i, "echo");
  Send(calls);
  CloseInput();
  int answered = 0;
  while (!Line().empty()) ++answered;
  EXPECT_EQ(answered, 20);
  Join();
}

TEST_F(TransportTest, AClientThatGoesAwayEndsTheServer) {
  Send(kInitialize);
  Line();
  Send(CallOf(1, "wait") + CallOf(2, "wait"));
  CloseOutput();
  // The input stays open.
  Join();
}

TEST_F(TransportTest, AnEndlessLineIsRefusedOnce) {
  Send(kInitialize);
  Line();
  const std::string part(1 << 16, 'x');
  for (int i = 0; i < 40; ++i) Send(part);
  Send("\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
  EXPECT_THAT(Line(), HasSubstr("at most"));
  EXPECT_EQ(Json::parse(Line())["id"], 1);
}

}  // namespace
}  // namespace oplens::test::transport_test
