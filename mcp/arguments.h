#ifndef OPLENS_MCP_ARGUMENTS_H_
#define OPLENS_MCP_ARGUMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mcp/protocol/message.h"

namespace oplens::mcp {

/// What tools are asked with; each takes some of these. "" and 0: not given.
struct Arguments {
  std::string path;
  std::string base;
  std::string name;
  std::string key;
  std::string query;
  std::string where;
  std::string by;
  std::string columns;
  std::string sort;
  int64_t top = 0;
  int64_t skip = 0;
  int64_t max_tokens = 0;
};

/// An argument that a tool takes.
struct ArgumentEntry {
  std::string_view name;
  std::string_view help;  ///< "": its name says it.
  bool required = false;
};

/// The schema of an object of these arguments.
OrderedJson SchemaOf(std::span<const ArgumentEntry> entries);

/// Reads what a client gave. Throws UsageError, naming the argument and what it takes, for others
/// than these, a wrong type or range, and one that is missing.
Arguments ReadArguments(std::span<const ArgumentEntry> entries, const Json& given);

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_ARGUMENTS_H_
