#ifndef OPLENS_BASE_EXCHANGE_H_
#define OPLENS_BASE_EXCHANGE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace oplens {

/// What processes that do one work together tell each other. All of them make the same calls in the
/// same order; each call returns once all have made it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Which of them this is, from 0 on.
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;
  /// `messages`: one for each process, in their order. Answers what each sent to this one.
  virtual std::vector<std::string> AllToAll(std::vector<std::string> messages) = 0;
  /// Answers what each process said, in their order.
  virtual std::vector<std::string> AllGather(std::string message) = 0;
};

/// Of one process alone.
class NoExchange : public Exchange {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  std::vector<std::string> AllToAll(std::vector<std::string> messages) override { return messages; }
  std::vector<std::string> AllGather(std::string message) override { return {std::move(message)}; }
};

}  // namespace oplens

#endif  // OPLENS_BASE_EXCHANGE_H_
