#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_THREADLOCALDEBUGINFO_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_THREADLOCALDEBUGINFO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace c10 {

enum class DebugInfoKind : uint8_t { PRODUCER_INFO = 0, MOBILE_RUNTIME_INFO, PROFILER_STATE };

class DebugInfoBase {
 public:
  DebugInfoBase() = default;
  virtual ~DebugInfoBase() = default;
};

/// A stack for each kind.
class ThreadLocalDebugInfo {
 public:
  static DebugInfoBase* get(DebugInfoKind kind) {
    return stack(kind).empty() ? nullptr : stack(kind).back().get();
  }
  static void _push(DebugInfoKind kind, std::shared_ptr<DebugInfoBase> info) {
    stack(kind).push_back(std::move(info));
  }
  static std::shared_ptr<DebugInfoBase> _pop(DebugInfoKind kind) {
    std::shared_ptr<DebugInfoBase> info = stack(kind).back();
    stack(kind).pop_back();
    return info;
  }

 private:
  static std::vector<std::shared_ptr<DebugInfoBase>>& stack(DebugInfoKind kind) {
    static thread_local std::map<DebugInfoKind, std::vector<std::shared_ptr<DebugInfoBase>>> stacks;
    return stacks[kind];
  }
};

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_UTIL_THREADLOCALDEBUGINFO_H_
