#include "mcp/protocol/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace oplens::mcp {
namespace {

// Keys of _meta in the newer era.
constexpr char kVersionKey[] = "io.modelcontextprotocol/protocolVersion";
constexpr char kCapabilitiesKey[] = "io.modelcontextprotocol/clientCapabilities";
constexpr char kServerKey[] = "io.modelcontextprotocol/serverInfo";

/// How long clients may keep the list of tools, which never changes while a server runs.
constexpr int64_t kKeptMs = 3'600'000;
/// Calls that run or wait.
constexpr size_t kMostWaiting = 64;

/// Null if there is none, or if it is no object.
const Json* MetaOf(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() ? &*meta : nullptr;
}

bool SaysVersion(const Message& message) {
  const Json* const meta = MetaOf(message);
  return meta != nullptr && meta->contains(kVersionKey);
}

OrderedJson Versions(bool all) {
  OrderedJson versions = OrderedJson::array({kModernVersion});
  if (all) {
    for (const std::string_view version : kHandshakeVersions) versions.push_back(version);
  }
  return versions;
}

/// Throws Refusal unless _meta is as the newer era asks.
void NeedMeta(const Message& message) {
  const Json* const meta = MetaOf(message);
  for (const char* key : {kVersionKey, kCapabilitiesKey}) {
    if (meta != nullptr && meta->contains(key)) continue;
    throw Refusal{kInvalidParams, fmt::format("params._meta needs {}", key)};
  }
  if (!meta->at(kCapabilitiesKey).is_object()) {
    throw Refusal{kInvalidParams, fmt::format("{} must be an object", kCapabilitiesKey)};
  }
  const Json& version = meta->at(kVersionKey);
  if (!version.is_string()) {
    throw Refusal{kInvalidParams, fmt::format("{} must be a string", kVersionKey)};
  }
  if (version == kModernVersion) return;
  throw Refusal{kUnsupportedVersion,
                "this version of the protocol is not served",
                {{"supported", Versions(true)}, {"requested", version.get<std::string>()}}};
}

}  // namespace

void CallContext::Progress(int64_t done, int64_t total, std::string_view message) {
  if (progress_token_.empty() || !tell_ || cancelled()) return;
  OrderedJson params = {{"progressToken", OrderedJson::parse(progress_token_)}, {"progress", done}};
  if (total > 0) params["total"] = total;
  params["message"] = message;
  tell_(NotificationText("notifications/progress", params));
}

void CallContext::TellMeter() {
  const int64_t done = meter_.done();
  if (done == last_) return;
  if (done < last_) before_ += last_;
  last_ = done;
  if (before_ + done > 0) Progress(before_ + done, 0, "reading");
}

Session::Outcome Session::Take(std::string_view line) {
  std::string id;
  const auto [message, refusal] = ReadMessage(line, &id);
  if (!message) return {RefusalText(id, refusal), {}};
  if (message->kind == Message::Kind::kResponse) return {};  // Nothing is asked of clients.
  if (message->kind == Message::Kind::kNotification) {
    TakeNotification(*message);
    return {};
  }
  try {
    return TakeRequest(*message);
  } catch (const Refusal& why) {
    return {RefusalText(id, why), {}};
  }
}

void Session::DecideEra(const Message& message) {
  const bool modern = SaysVersion(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (message.method == "initialize") {
    if (era_ == Era::kHandshake) throw Refusal{kInvalidRequest, "initialize came before"};
    if (era_ == Era::kModern) {
      const auto asked = message.params.find("protocolVersion");
      const bool is_text = asked != message.params.end() && asked->is_string();
      throw Refusal{kUnsupportedVersion,
                    "this connection has no handshake: its first request named its version",
                    {{"supported", Versions(false)},
                     {"requested", is_text ? asked->get<std::string>() : std::string()}}};
    }
    return;  // Decided once it succeeds.
  }
  if (modern && era_ == Era::kHandshake) {
    throw Refusal{kInvalidRequest, "this connection began with initialize: _meta names no version"};
  }
  if (era_ == Era::kModern || modern) {
    NeedMeta(message);
    era_ = Era::kModern;
    return;
  }
  if (era_ == Era::kOpen && message.method != "ping") {
    throw Refusal{kInvalidRequest,
                  fmt::format("begin with initialize, or name {} in params._meta", kVersionKey)};
  }
}

Session::Outcome Session::TakeRequest(const Message& message) {
  if (message.method == "server/discover") {
    if (SaysVersion(message)) NeedMeta(message);
    return {ResultText(message.id, OfEra(Discover(), true)), {}};
  }
  DecideEra(message);
  bool modern = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    modern = era_ == Era::kModern;
  }
  if (message.method == "initialize") return {ResultText(message.id, Initialize(message)), {}};
  if (message.method == "ping" && !modern) {
    return {ResultText(message.id, OrderedJson::object()), {}};
  }
  if (message.method == "tools/list") {
    OrderedJson list = List(message);
    if (modern) {
      list["ttlMs"] = kKeptMs;
      list["cacheScope"] = "public";
    }
    return {ResultText(message.id, OfEra(std::move(list), modern)), {}};
  }
  if (message.method == "tools/call") {
    Call call = Begin(message);
    call.modern = modern;
    return {"", std::move(call)};
  }
  throw Refusal{kMethodNotFound, "there is no such method"};
}

void Session::TakeNotification(const Message& message) {
  if (message.method != "notifications/cancelled") return;
  const auto asked = message.params.find("requestId");
  if (asked == message.params.end()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = running_.find(TextOf(*asked));
  if (found != running_.end()) found->second->Cancel();
}

OrderedJson Session::Identity() const {
  return {{"name", facts_.name}, {"title", facts_.title}, {"version", facts_.version}};
}

OrderedJson Session::OfEra(OrderedJson result, bool modern) const {
  if (!modern) return result;
  result["resultType"] = "complete";
  result["_meta"] = {{kServerKey, Identity()}};
  return result;
}

OrderedJson Session::Initialize(const Message& message) {
  const auto asked = message.params.find("protocolVersion");
  if (asked == message.params.end() || !asked->is_string()) {
    throw Refusal{kInvalidParams, "initialize needs protocolVersion"};
  }
  const auto version = std::ranges::find(kHandshakeVersions, asked->get<std::string>());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    era_ = Era::kHandshake;
  }
  // The client may go on with another version, or leave.
  return {{"protocolVersion",
           version == std::end(kHandshakeVersions) ? kHandshakeVersions[0] : *version},
          {"capabilities", {{"tools", OrderedJson::object()}}},
          {"serverInfo", Identity()},
          {"instructions", facts_.instructions}};
}

OrderedJson Session::Discover() const {
  return {{"supportedVersions", Versions(false)},
          {"capabilities", {{"tools", OrderedJson::object()}}},
          {"instructions", facts_.instructions},
          {"ttlMs", kKeptMs},
          {"cacheScope", "public"}};
}

OrderedJson Session::List(const Message& message) const {
  if (message.params.contains("cursor"))
    throw Refusal{kInvalidParams, "there is one page of tools"};
  return {{"tools", tools_.Definitions()}};
}

Session::Call Session::Begin(const Message& message) {
  const auto name = message.params.find("name");
  if (name == message.params.end() || !name->is_string()) {
    throw Refusal{kInvalidParams, "tools/call needs the name of a tool"};
  }
  Call call;
  call.id = message.id;
  call.tool = name->get<std::string>();
  if (!tools_.Has(call.tool)) throw Refusal{kInvalidParams, "there is no such tool"};
  call.arguments = Json::object();
  const auto arguments = message.params.find("arguments");
  if (arguments != message.params.end()) {
    if (!arguments->is_object()) throw Refusal{kInvalidParams, "arguments must be an object"};
    call.arguments = *arguments;
  }
  std::string token;
  if (const Json* const meta = MetaOf(message)) {
    const auto given = meta->find("progressToken");
    if (given != meta->end() && (given->is_string() || given->is_number_integer())) {
      token = TextOf(*given);
    }
  }
  call.context = std::make_shared<CallContext>(std::move(token), tell_);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_.size() >= kMostWaiting) {
    throw Refusal{kInvalidRequest, "too many calls are waiting: wait for some of them"};
  }
  if (!running_.try_emplace(call.id, call.context).second) {
    throw Refusal{kInvalidRequest, "a request with this id is still running"};
  }
  return call;
}

std::string Session::Finish(const Call& call, const ToolAnswer& answer) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(call.id);
  }
  if (call.context->cancelled()) return "";
  OrderedJson result = {{"content", {{{"type", "text"}, {"text", answer.text}}}}};
  if (!answer.structured.is_null()) result["structuredContent"] = answer.structured;
  result["isError"] = answer.is_error;
  return ResultText(call.id, OfEra(std::move(result), call.modern));
}

void Session::TellProgress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, context] : running_) context->TellMeter();
}

void Session::CancelAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, context] : running_) context->Cancel();
}

}  // namespace oplens::mcp
