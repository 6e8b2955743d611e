#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_RECORD_FUNCTION_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_RECORD_FUNCTION_H_

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace at {

enum class RecordScope : uint8_t {
  FUNCTION = 0,
  BACKWARD_FUNCTION,
  TORCHSCRIPT_FUNCTION,
  KERNEL_FUNCTION_DTYPE,
  CUSTOM_CLASS,
  BUILD_FEATURE,
  LITE_INTERPRETER,
  USER_SCOPE,
  STATIC_RUNTIME_OP,
  STATIC_RUNTIME_MODEL,
  NUM_SCOPES,
};

struct ObserverContext {
  virtual ~ObserverContext() = default;

 protected:
  ObserverContext() = default;
};

struct RecordFunction;
using CallbackHandle = uint64_t;

class RecordFunctionCallback {
 public:
  using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
  using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

  explicit RecordFunctionCallback(StartCallback start, EndCallback end = nullptr)
      : start_(start), end_(end) {}
  RecordFunctionCallback& needsInputs(bool needs) {
    needs_inputs_ = needs;
    return *this;
  }
  RecordFunctionCallback& needsIds(bool needs) {
    needs_ids_ = needs;
    return *this;
  }
  RecordFunctionCallback& scopes(const std::unordered_set<RecordScope>& scopes) {
    scopes_ = scopes;
    return *this;
  }
  bool needsInputs() const { return needs_inputs_; }
  bool needsIds() const { return needs_ids_; }
  bool checkScope(RecordScope scope) const { return scopes_.empty() || scopes_.count(scope) > 0; }
  StartCallback start() const { return start_; }
  EndCallback end() const { return end_; }

 private:
  StartCallback start_;
  EndCallback end_;
  std::unordered_set<RecordScope> scopes_;
  bool needs_inputs_ = false;
  bool needs_ids_ = false;
};

/// The callbacks of all threads, by handle.
inline std::vector<std::pair<CallbackHandle, RecordFunctionCallback>>& StandInCallbacks() {
  static std::vector<std::pair<CallbackHandle, RecordFunctionCallback>> callbacks;
  return callbacks;
}

inline CallbackHandle addGlobalCallback(RecordFunctionCallback callback) {
  static CallbackHandle last = 0;
  StandInCallbacks().emplace_back(++last, callback);
  return last;
}

inline void removeCallback(CallbackHandle handle) {
  auto& all = StandInCallbacks();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& entry) { return entry.first == handle; }),
            all.end());
}

/// Those that disableCallback() switched off.
inline std::unordered_set<CallbackHandle>& StandInDisabled() {
  static std::unordered_set<CallbackHandle> disabled;
  return disabled;
}
inline void disableCallback(CallbackHandle handle) { StandInDisabled().insert(handle); }
inline void reenableCallback(CallbackHandle handle) { StandInDisabled().erase(handle); }

/// A call; callbacks run from before() to end().
struct RecordFunction {
  using schema_ref_t = std::reference_wrapper<const c10::FunctionSchema>;
  using FunctionDescriptor = std::variant<std::string_view, schema_ref_t>;
  using Keywords = std::unordered_map<std::string, c10::IValue>;

  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION) : scope_(scope) {}
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  virtual ~RecordFunction() { end(); }

  void before(FunctionDescriptor function, int64_t sequence_nr = -1) {
    if (const auto* const schema = std::get_if<schema_ref_t>(&function)) {
      function_ = *schema;
    } else {
      function_ = std::string(std::get<std::string_view>(function));
    }
    sequence_nr_ = sequence_nr;
    static uint64_t last_handle = 0;
    for (const auto& [handle, callback] : StandInCallbacks()) {
      if (!callback.checkScope(scope_) || StandInDisabled().count(handle) != 0) continue;
      if (callback.needsIds() && handle_ == 0) handle_ = ++last_handle;
      open_.emplace_back(callback.end(), callback.start()(*this));
    }
    inputs_ = {};
  }
  void before(FunctionDescriptor function, c10::ArrayRef<const c10::IValue> arguments,
              int64_t sequence_nr = -1) {
    inputs_ = arguments;
    before(function, sequence_nr);
  }
#if OPLENS_STAND_IN_MINOR >= 2
  void before(FunctionDescriptor function, c10::ArrayRef<const c10::IValue> arguments,
              const Keywords* keywords, int64_t sequence_nr = -1) {
    keywords_ = *keywords;
    before(function, arguments, sequence_nr);
  }
  Keywords kwinputs() const { return keywords_; }
#endif
  void end() {
    for (auto& [callback, context] : open_) callback(*this, context.get());
    open_.clear();
  }

  const char* name() const {
    const auto* const schema = std::get_if<schema_ref_t>(&function_);
    return schema == nullptr ? std::get<std::string>(function_).c_str()
                             : schema->get().name().c_str();
  }
#if OPLENS_STAND_IN_MINOR >= 7
  const char* overload_name() const {
    const auto* const schema = std::get_if<schema_ref_t>(&function_);
    return schema == nullptr ? "" : schema->get().overload_name().c_str();
  }
#endif
  c10::optional<c10::FunctionSchema> operator_schema() const {
    const auto* const schema = std::get_if<schema_ref_t>(&function_);
    if (schema == nullptr) return c10::nullopt;
    return schema->get();
  }
  c10::optional<c10::OperatorName> operator_name() const {
    const auto* const schema = std::get_if<schema_ref_t>(&function_);
    if (schema == nullptr) return c10::nullopt;
    return schema->get().operator_name();
  }
  c10::ArrayRef<const c10::IValue> inputs() const { return inputs_; }
  int64_t seqNr() const { return sequence_nr_; }
  uint64_t handle() const { return handle_; }
  uint64_t threadId() const { return 1; }
  uint64_t forwardThreadId() const { return forward_thread_; }
  void setForwardThreadId(uint64_t thread) { forward_thread_ = thread; }
  static uint64_t currentThreadId() { return 1; }
  RecordScope scope() const { return scope_; }
  bool isAsync() const { return false; }

 private:
  RecordScope scope_;
  std::variant<std::string, schema_ref_t> function_;
  c10::ArrayRef<const c10::IValue> inputs_;
  Keywords keywords_;
  int64_t sequence_nr_ = -1;
  uint64_t handle_ = 0;
  uint64_t forward_thread_ = 0;
  std::vector<std::pair<RecordFunctionCallback::EndCallback, std::unique_ptr<ObserverContext>>>
      open_;
};

}  // namespace at

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_RECORD_FUNCTION_H_
