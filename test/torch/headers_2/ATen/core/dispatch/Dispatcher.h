#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_DISPATCH_DISPATCHER_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_DISPATCH_DISPATCHER_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

// A stand-in: see headers_2/README.md.

namespace c10 {

class OperatorHandle {};

class OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener() = default;
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

class RegistrationHandleRAII {
 public:
  explicit RegistrationHandleRAII(std::function<void()> end) : end_(std::move(end)) {}
  RegistrationHandleRAII(RegistrationHandleRAII&& other) noexcept
      : end_(std::exchange(other.end_, nullptr)) {}
  ~RegistrationHandleRAII() {
    if (end_) end_();
  }

 private:
  std::function<void()> end_;
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher dispatcher;
    return dispatcher;
  }
  RegistrationHandleRAII addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener) {
    listeners_.push_back(std::move(listener));
    return RegistrationHandleRAII([this] { listeners_.clear(); });
  }

  /// For tests: an operator is removed.
  void Remove() {
    for (const auto& listener : listeners_) listener->onOperatorDeregistered({});
  }

 private:
  std::vector<std::unique_ptr<OpRegistrationListener>> listeners_;
};

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_DISPATCH_DISPATCHER_H_
