// Conversations with a client, line by line, in both eras of the protocol.

#include "mcp/protocol/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/mcp/fake_tools.h"
#include "test/support/test_files.h"

namespace oplens::test::session_test {
namespace {

using mcp::Json;
using mcp::Session;
using testing::HasSubstr;

const mcp::ServerFacts kFacts{"oplens", "oplens", "1.2.3", "Ask."};

/// A connection whose calls run at once, unless they are kept.
class Client {
 public:
  /// What comes back for a line, in order.
  std::vector<std::string> Send(const std::string& line) {
    replies_.clear();
    Session::Outcome outcome = session_.Take(line);
    if (!outcome.reply.empty()) replies_.push_back(outcome.reply);
    if (outcome.call) {
      const mcp::ToolAnswer answer =
          tools_.Call(outcome.call->tool, outcome.call->arguments, outcome.call->context.get());
      const std::string reply = session_.Finish(*outcome.call, answer);
      if (!reply.empty()) replies_.push_back(reply);
    }
    return replies_;
  }
  /// The only reply to a line.
  Json Ask(const std::string& line) {
    const std::vector<std::string> replies = Send(line);
    EXPECT_EQ(replies.size(), 1U) << line;
    return replies.empty() ? Json() : Json::parse(replies.front());
  }
  Session* session() { return &session_; }
  FakeTools* tools() { return &tools_; }

 private:
  FakeTools tools_;
  std::vector<std::string> replies_;
  Session session_{kFacts, &tools_, [this](const std::string& line) { replies_.push_back(line); }};
};

constexpr char kInitialize[] =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}})";

std::string Modern(const std::string& method, const std::string& more = "",
                   const std::string& version = "2026-07-28") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method +
         R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
         R"(","io.modelcontextprotocol/clientCapabilities":{}})" + more + "}}";
}

class ConversationTest : public testing::TestWithParam<std::string> {};

/// "> LINE" is sent; the lines "< LINE" below it are all that comes back, compared as JSON.
TEST_P(ConversationTest, IsAnsweredAsRecorded) {
  std::ifstream file(SourceDir() + "/test/mcp/conversations/" + GetParam());
  ASSERT_TRUE(file);
  Client client;
  std::deque<std::string> replies;
  std::string line;
  int sent = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("> ")) {
      EXPECT_TRUE(replies.empty()) << replies.front();
      const std::vector<std::string> now = client.Send(line.substr(2));
      replies.assign(now.begin(), now.end());
      ++sent;
    } else if (line.starts_with("< ")) {
      ASSERT_FALSE(replies.empty()) << line;
      EXPECT_EQ(Json::parse(replies.front()), Json::parse(line.substr(2))) << replies.front();
      replies.pop_front();
    }
  }
  EXPECT_TRUE(replies.empty()) << replies.front();
  EXPECT_GT(sent, 0);
}

INSTANTIATE_TEST_SUITE_P(Recorded, ConversationTest,
                         testing::Values("handshake.txt", "modern.txt", "discover_first.txt",
                                         "eras_mixed.txt", "wrong_messages.txt"),
                         [](const auto& test) {
                           return test.param.substr(0, test.param.find('.'));
                         });

TEST(SessionTest, AnOlderVersionIsAnsweredWithOneThatIsServed) {
  for (const char* version : {"2025-11-25", "2025-06-18"}) {
    Client client;
    std::string line = kInitialize;
    line.replace(line.find("2025-11-25"), 10, version);
    EXPECT_EQ(client.Ask(line)["result"]["protocolVersion"], version);
  }
  for (const char* version : {"2024-11-05", "2025-03-26", "2026-07-28", "20260-1-01"}) {
    Client client;
    std::string line = kInitialize;
    line.replace(line.find("2025-11-25"), 10, version);
    EXPECT_EQ(client.Ask(line)["result"]["protocolVersion"], "2025-11-25") << version;
  }
}

TEST(SessionTest, AVersionThatIsNotServedIsNamedWithThoseThatAre) {
  Client client;
  const Json reply = client.Ask(Modern("tools/list", "", "2099-01-01"));
  EXPECT_EQ(reply["error"]["code"], -32022);
  EXPECT_EQ(reply["error"]["data"]["requested"], "2099-01-01");
  EXPECT_EQ(reply["error"]["data"]["supported"],
            Json::array({"2026-07-28", "2025-11-25", "2025-06-18"}));
  // It decided nothing.
  EXPECT_TRUE(client.Ask(kInitialize).contains("result"));
}

TEST(SessionTest, ACancelledCallIsNotAnswered) {
  Client client;
  client.Send(kInitialize);
  Session::Outcome outcome = client.session()->Take(
      R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"wait"}})");
  ASSERT_TRUE(outcome.call);
  // Another id, and one of another type, cancel nothing.
  client.Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}})");
  client.Send(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}})");
  EXPECT_FALSE(outcome.call->context->cancelled());
  client.Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  EXPECT_TRUE(outcome.call->context->cancelled());
  EXPECT_EQ(client.session()->Finish(*outcome.call, {"late", nullptr, false}), "");
  // The id is free again.
  EXPECT_TRUE(
      client.Ask(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo"}})")
          .contains("result"));
}

TEST(SessionTest, AnIdThatRunsIsRefused) {
  Client client;
  client.Send(kInitialize);
  const std::string call =
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}})";
  const Session::Outcome first = client.session()->Take(call);
  ASSERT_TRUE(first.call);
  EXPECT_THAT(client.session()->Take(call).reply, HasSubstr("still running"));
  EXPECT_NE(client.session()->Finish(*first.call, {}), "");
  EXPECT_TRUE(client.session()->Take(call).call);
}

TEST(SessionTest, TooManyCallsAreRefused) {
  Client client;
  client.Send(kInitialize);
  int taken = 0;
  std::string last;
  for (int i = 0; i < 100; ++i) {
    const Session::Outcome outcome =
        client.session()->Take(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
                               R"(,"method":"tools/call","params":{"name":"wait"}})");
    taken += outcome.call ? 1 : 0;
    last = outcome.reply;
  }
  EXPECT_EQ(taken, 64);
  EXPECT_THAT(last, HasSubstr("too many calls"));
}

TEST(SessionTest, HugeAndDeepMessagesAreRefused) {
  Client client;
  client.Send(kInitialize);
  const std::string huge(mcp::kMostMessageBytes + 1, ' ');
  EXPECT_EQ(client.Ask(huge)["error"]["code"], -32600);
  const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" +
                           std::string(100'000, '[') + std::string(100'000, ']') + "}}";
  EXPECT_EQ(client.Ask(deep)["error"]["code"], -32600);
  EXPECT_EQ(client.Ask(std::string(100'000, '['))["error"]["code"], -32600);
  EXPECT_TRUE(client.Ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").contains("result"));
}

TEST(SessionTest, BytesThatAreNotTextComeBackAsText) {
  Client client;
  client.Send(kInitialize);
  // Not UTF-8: no JSON.
  EXPECT_EQ(
      client.Ask("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}")["error"]["code"],
      -32700);
}

}  // namespace
}  // namespace oplens::test::session_test
