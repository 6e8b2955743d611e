// Lines of a client: each is answered with one line of JSON, or with none, in whatever era.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "mcp/protocol/session.h"
#include "test/fuzz/fuzz_check.h"

namespace {

using oplens::fuzz::Check;
using oplens::mcp::OrderedJson;
using oplens::mcp::Session;

/// One tool, which gives back what it is asked with.
class Echo : public oplens::mcp::ToolSet {
 public:
  const OrderedJson& Definitions() const override { return definitions_; }
  bool Has(std::string_view tool) const override { return tool == "echo"; }
  oplens::mcp::ToolAnswer Call(const std::string&, const oplens::mcp::Json& arguments,
                               oplens::mcp::CallContext*) override {
    return {oplens::mcp::TextOf(arguments), nullptr, false};
  }

 private:
  OrderedJson definitions_ = OrderedJson::array();
};

void CheckReply(const std::string& reply) {
  if (reply.empty()) return;
  Check(reply.find('\n') == std::string::npos);
  const OrderedJson message = OrderedJson::parse(reply);
  Check(message["jsonrpc"] == "2.0");
  Check(message.contains("result") != message.contains("error"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = oplens::fuzz::TextOf(data, size);
  Echo tools;
  Session session({"oplens", "oplens", "1", ""}, &tools, nullptr);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Session::Outcome outcome = session.Take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    CheckReply(outcome.reply);
    if (!outcome.call) continue;
    Check(outcome.reply.empty());
    CheckReply(session.Finish(*outcome.call,
                              tools.Call(outcome.call->tool, outcome.call->arguments, nullptr)));
  }
  return 0;
}
