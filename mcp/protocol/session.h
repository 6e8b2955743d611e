#ifndef OPLENS_MCP_PROTOCOL_SESSION_H_
#define OPLENS_MCP_PROTOCOL_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_line.h"
#include "mcp/protocol/message.h"

namespace oplens::mcp {

// The Model Context Protocol without its transport: lines in, lines out.

/// Revisions that are served. The first has no handshake: each request says its version. The others
/// begin with `initialize`; the newest comes first.
inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kHandshakeVersions[] = {"2025-11-25", "2025-06-18"};

/// What a tool is told of its call. Thread-safe.
class CallContext {
 public:
  using Tell = std::function<void(const std::string& message)>;
  /// `tell` sends a notification; null: nobody asked for progress.
  CallContext(std::string progress_token, Tell tell)
      : progress_token_(std::move(progress_token)), tell_(std::move(tell)) {}

  /// The client no longer waits: the answer is not sent.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  /// Also stops what meter() counts.
  void Cancel() {
    cancelled_.store(true, std::memory_order_relaxed);
    meter_.Stop();
  }
  /// Of the call's work.
  WorkMeter* meter() { return &meter_; }

  /// Tells the client, if it asked, how far the call is. `done` must grow; `total` <= 0: unknown.
  void Progress(int64_t done, int64_t total, std::string_view message);
  /// The same by meter(), if that has moved. Not for several threads at once.
  void TellMeter();

 private:
  WorkMeter meter_;
  int64_t before_ = 0;          // Of pieces of work before the current one,
  int64_t last_ = 0;            // and of the current one when it was last looked at.
  std::string progress_token_;  // As JSON text.
  Tell tell_;
  std::atomic<bool> cancelled_{false};
};

/// What a tool answers.
struct ToolAnswer {
  std::string text;
  OrderedJson structured = nullptr;  ///< Null: none, as of an error.
  bool is_error = false;
};

/// The tools of a server. Calls may come from several threads.
class ToolSet {
 public:
  virtual ~ToolSet() = default;
  /// As tools/list gives them.
  virtual const OrderedJson& Definitions() const = 0;
  virtual bool Has(std::string_view tool) const = 0;
  /// Does not throw but for a lack of memory. `arguments`: an object.
  virtual ToolAnswer Call(const std::string& tool, const Json& arguments, CallContext* context) = 0;
};

struct ServerFacts {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;
};

/// A connection. The first message that is of one era decides it: `initialize` the older, a request
/// whose _meta names a version the newer; messages of the other are refused from then on.
/// `server/discover` is always answered and decides nothing. Thread-safe.
class Session {
 public:
  /// A call to run, whose answer Finish() makes a message of.
  struct Call {
    std::string id;
    std::string tool;
    Json arguments;
    std::shared_ptr<CallContext> context;
    bool modern = false;
  };
  struct Outcome {
    std::string reply;  ///< To send now; "": none.
    std::optional<Call> call;
  };

  /// `tools` must outlive the session; `tell` sends progress, and may be called by any thread.
  Session(ServerFacts facts, const ToolSet* tools, CallContext::Tell tell)
      : facts_(std::move(facts)), tools_(*tools), tell_(std::move(tell)) {}

  /// Takes one line.
  Outcome Take(std::string_view line);
  /// The reply to a call; "" if it was cancelled. Calls end in any order.
  std::string Finish(const Call& call, const ToolAnswer& answer);
  /// Tells clients how far their calls are; to be called now and then.
  void TellProgress();
  /// The client is gone.
  void CancelAll();

 private:
  enum class Era : uint8_t { kOpen, kHandshake, kModern };

  Outcome TakeRequest(const Message& message);
  void TakeNotification(const Message& message);
  /// Decides the era of a request, or throws Refusal if it is of the other.
  void DecideEra(const Message& message);
  OrderedJson Initialize(const Message& message);
  OrderedJson Discover() const;
  OrderedJson List(const Message& message) const;
  Call Begin(const Message& message);
  OrderedJson OfEra(OrderedJson result, bool modern) const;
  OrderedJson Identity() const;

  const ServerFacts facts_;
  const ToolSet& tools_;
  const CallContext::Tell tell_;
  std::mutex mutex_;  // Of what follows.
  Era era_ = Era::kOpen;
  std::map<std::string, std::shared_ptr<CallContext>, std::less<>> running_;  // By id.
};

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_PROTOCOL_SESSION_H_
