#ifndef OPLENS_MCP_PROTOCOL_MESSAGE_H_
#define OPLENS_MCP_PROTOCOL_MESSAGE_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace oplens::mcp {

// Messages of JSON-RPC 2.0, one a line.

/// What is read: keys in any order, so that many of them cost no more than their sorting.
using Json = nlohmann::json;
/// What is written: keys as they were added.
using OrderedJson = nlohmann::ordered_json;

/// Codes of JSON-RPC, and of the Model Context Protocol's revision 2026-07-28.
enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kUnsupportedVersion = -32022,
};

/// A message that cannot be served. `data` null: none.
struct Refusal {
  int code = kInvalidRequest;
  std::string message;
  OrderedJson data = nullptr;
};

struct Message {
  enum class Kind : uint8_t { kRequest, kNotification, kResponse };
  Kind kind = Kind::kNotification;
  std::string id;  ///< As JSON text: "7" or "\"a\""; "" unless it is a request.
  std::string method;
  Json params = Json::object();  ///< An object.
};

/// A line longer than this is refused unread.
inline constexpr size_t kMostMessageBytes = size_t{1} << 20;
/// Deeper values are refused.
inline constexpr int kMostDepth = 32;

/// The message of a line, or why it is none; then `*id` is its id if that could be read, else
/// "null".
std::pair<std::optional<Message>, Refusal> ReadMessage(std::string_view line, std::string* id);

/// Texts to send, without line ends. `id`: as in Message.
std::string ResultText(std::string_view id, const OrderedJson& result);
std::string RefusalText(std::string_view id, const Refusal& refusal);
std::string NotificationText(std::string_view method, const OrderedJson& params);

/// As text; bytes that are not UTF-8 become U+FFFD.
template <typename AnyJson>
std::string TextOf(const AnyJson& value) {
  return value.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_PROTOCOL_MESSAGE_H_
