#ifndef OPLENS_MCP_TOOLS_H_
#define OPLENS_MCP_TOOLS_H_

#include <string>
#include <string_view>

#include "mcp/answers/answer.h"
#include "mcp/arguments.h"
#include "mcp/opened_runs.h"
#include "mcp/protocol/session.h"

namespace oplens::mcp {

/// What a tool found.
struct Found {
  Answer answer;
  AnswerRows rows;
};

// Each throws UsageError for what the client should have asked otherwise, Error for files, and
// Interrupted.
Found OpenTool(const Arguments& asked, OpenedRuns* runs, CallContext* context);
Found ViewTool(const Arguments& asked, OpenedRuns* runs, CallContext* context);
Found KernelTool(const Arguments& asked, OpenedRuns* runs, CallContext* context);
Found DiffTool(const Arguments& asked, OpenedRuns* runs, CallContext* context);
Found SqlTool(const Arguments& asked, OpenedRuns* runs, CallContext* context);

/// The tools of `oplens mcp`.
class Tools : public ToolSet {
 public:
  /// `runs` must outlive this object.
  explicit Tools(OpenedRuns* runs);

  const OrderedJson& Definitions() const override { return definitions_; }
  bool Has(std::string_view tool) const override;
  ToolAnswer Call(const std::string& tool, const Json& arguments, CallContext* context) override;

 private:
  OpenedRuns& runs_;
  OrderedJson definitions_;
};

/// What clients are told once about the server.
std::string Instructions();

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_TOOLS_H_
