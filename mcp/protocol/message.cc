#include "mcp/protocol/message.h"

#include <fmt/format.h>

namespace oplens::mcp {
namespace {

/// Parses without throwing; nullopt: not JSON. `*deep`: it was deeper than kMostDepth, so that its
/// deepest parts are left out.
std::optional<Json> Parse(std::string_view text, bool* deep) {
  const auto keep = [&](int depth, Json::parse_event_t, Json&) {
    if (depth <= kMostDepth) return true;
    *deep = true;
    return false;
  };
  Json value = Json::parse(text, keep, false);
  // What is deepest of all may have been the whole.
  if (value.is_discarded()) return *deep ? std::optional<Json>(nullptr) : std::nullopt;
  return value;
}

bool IsId(const Json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

std::pair<std::optional<Message>, Refusal> ReadMessage(std::string_view line, std::string* id) {
  *id = "null";
  const auto refuse = [](int code, std::string message) {
    return std::pair(std::optional<Message>(), Refusal{code, std::move(message)});
  };
  if (line.size() > kMostMessageBytes) {
    return refuse(kInvalidRequest,
                  fmt::format("a message has at most {} bytes", kMostMessageBytes));
  }
  bool deep = false;
  const std::optional<Json> value = Parse(line, &deep);
  if (!value) return refuse(kParseError, "this line is not JSON");
  if (value->is_array()) {
    return refuse(kInvalidRequest, "batches are not served: send one message a line");
  }
  if (deep) return refuse(kInvalidRequest, "the message is nested too deeply");
  if (!value->is_object()) return refuse(kInvalidRequest, "a message is a JSON object");
  const auto given_id = value->find("id");
  if (given_id != value->end() && IsId(*given_id)) *id = TextOf(*given_id);
  const auto version = value->find("jsonrpc");
  if (version == value->end() || *version != "2.0") {
    return refuse(kInvalidRequest, "jsonrpc must be \"2.0\"");
  }
  Message message;
  const auto method = value->find("method");
  if (method == value->end()) {
    if (!value->contains("result") && !value->contains("error")) {
      return refuse(kInvalidRequest, "the message has no method");
    }
    message.kind = Message::Kind::kResponse;
    return {std::move(message), {}};
  }
  if (!method->is_string()) return refuse(kInvalidRequest, "method must be a string");
  message.method = method->get<std::string>();
  if (given_id != value->end()) {
    if (!IsId(*given_id)) return refuse(kInvalidRequest, "id must be a string or an integer");
    message.kind = Message::Kind::kRequest;
    message.id = *id;
  }
  const auto params = value->find("params");
  if (params != value->end()) {
    if (!params->is_object()) return refuse(kInvalidParams, "params must be an object");
    message.params = *params;
  }
  return {std::move(message), {}};
}

std::string ResultText(std::string_view id, const OrderedJson& result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, TextOf(result));
}

std::string RefusalText(std::string_view id, const Refusal& refusal) {
  OrderedJson error = {{"code", refusal.code}, {"message", refusal.message}};
  if (!refusal.data.is_null()) error["data"] = refusal.data;
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, TextOf(error));
}

std::string NotificationText(std::string_view method, const OrderedJson& params) {
  OrderedJson message = {{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
  return TextOf(message);
}

}  // namespace oplens::mcp
