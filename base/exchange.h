#ifndef OPLENS_BASE_EXCHANGE_H_
#define OPLENS_BASE_EXCHANGE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace oplens {

/// Collective communication of processes that share one job. All processes must make the same calls
/// in the same order; each call returns once all have made it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// The index of this process, from 0.
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;
  /// Sends messages[i] to process i; returns the message of each process to this one, by rank.
  virtual std::vector<std::string> AllToAll(std::vector<std::string> messages) = 0;
  /// Returns the message of each process, by rank.
  virtual std::vector<std::string> AllGather(std::string message) = 0;
};

/// The exchange of a single process.
class NoExchange : public Exchange {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  std::vector<std::string> AllToAll(std::vector<std::string> messages) override { return messages; }
  std::vector<std::string> AllGather(std::string message) override { return {std::move(message)}; }
};

}  // namespace oplens

#endif  // OPLENS_BASE_EXCHANGE_H_
