#ifndef OPLENS_MCP_PROTOCOL_TRANSPORT_H_
#define OPLENS_MCP_PROTOCOL_TRANSPORT_H_

#include "mcp/protocol/session.h"

namespace oplens::mcp {

/// Calls that run at the same time; others wait.
inline constexpr int kMostCalls = 4;

/// Serves one client, a message a line, until `in` ends or `out` has no reader. Calls that run when
/// `in` ends are finished and answered; those that run when the reader is gone are cancelled.
void Serve(int in, int out, const ServerFacts& facts, ToolSet* tools);

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_PROTOCOL_TRANSPORT_H_
