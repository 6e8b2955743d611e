#ifndef OPLENS_TEST_MCP_FAKE_TOOLS_H_
#define OPLENS_TEST_MCP_FAKE_TOOLS_H_

#include <string>
#include <string_view>
#include <thread>

#include "mcp/protocol/session.h"

namespace oplens::test {

/// Tools for tests of the protocol: `echo` gives back its arguments, `fail` is an error, `wait`
/// tells its progress and ends when it is cancelled.
class FakeTools : public mcp::ToolSet {
 public:
  const mcp::OrderedJson& Definitions() const override { return definitions_; }
  bool Has(std::string_view tool) const override {
    return tool == "echo" || tool == "fail" || tool == "wait";
  }
  mcp::ToolAnswer Call(const std::string& tool, const mcp::Json& arguments,
                       mcp::CallContext* context) override {
    if (tool == "fail") return {"it failed", nullptr, true};
    context->Progress(1, 2, "half");
    while (tool == "wait" && !context->cancelled()) std::this_thread::yield();
    return {"echo", mcp::OrderedJson::parse(arguments.dump()), false};
  }

 private:
  mcp::OrderedJson definitions_ =
      mcp::OrderedJson::array({{{"name", "echo"}, {"inputSchema", {{"type", "object"}}}}});
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_MCP_FAKE_TOOLS_H_
