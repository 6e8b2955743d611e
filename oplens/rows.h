#ifndef OPLENS_OPLENS_ROWS_H_
#define OPLENS_OPLENS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "prof/table/sink.h"

namespace oplens::screen {

/// Rows of a view, kept, with cells by the key of their field.
class Rows {
 public:
  explicit Rows(std::vector<std::string> keys = {}) : keys_(std::move(keys)) {}

  size_t size() const { return keys_.empty() ? 0 : values_.size() / keys_.size(); }
  /// The cell as a text; "" when unknown. Numbers are no texts.
  std::string_view Text(size_t row, std::string_view key) const;
  /// As a number; nullopt when it is unknown or a text.
  std::optional<double> Number(size_t row, std::string_view key) const;
  /// As a whole number; 0 when it is none.
  int64_t Count(size_t row, std::string_view key) const;

  void Add(std::span<const prof::Cell> cells);

 private:
  using Value = std::variant<std::monostate, int64_t, double, std::string>;

  const Value* At(size_t row, std::string_view key) const;

  std::vector<std::string> keys_;
  std::vector<Value> values_;
};

/// Takes the tables of views, in the order of their plans.
class KeptTables : public prof::Destination {
 public:
  /// `streamed`, not null: takes the rows of the first table in the place of Rows.
  explicit KeptTables(prof::Sink* streamed = nullptr) : streamed_(streamed) {}

  std::unique_ptr<prof::Sink> NewTable() override;
  void Commit() override {}
  /// The rows of the table of a plan by its place; the streamed one has none.
  const Rows& At(size_t plan) const { return *tables_.at(plan); }

 private:
  prof::Sink* streamed_;
  std::deque<std::unique_ptr<Rows>> tables_;
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_ROWS_H_
