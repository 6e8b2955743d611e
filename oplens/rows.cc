#include "oplens/rows.h"

#include <algorithm>
#include <utility>

namespace oplens::screen {
namespace {

using prof::Cell;

/// Keeps the rows of a table.
class KeepingSink : public prof::Sink {
 public:
  explicit KeepingSink(Rows* rows) : rows_(*rows) {}
  void Begin(std::string_view, std::vector<prof::Field> fields) override {
    std::vector<std::string> keys;
    keys.reserve(fields.size());
    for (const prof::Field& field : fields) keys.emplace_back(field.key);
    rows_ = Rows(std::move(keys));
  }
  void Row(std::span<const Cell> cells) override { rows_.Add(cells); }

 private:
  Rows& rows_;
};

/// Gives rows to a sink that someone else has.
class PassingSink : public prof::Sink {
 public:
  explicit PassingSink(prof::Sink* sink) : sink_(*sink) {}
  void Begin(std::string_view table, std::vector<prof::Field> fields) override {
    sink_.Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override { sink_.Row(cells); }

 private:
  prof::Sink& sink_;
};

}  // namespace

const Rows::Value* Rows::At(size_t row, std::string_view key) const {
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  if (at == keys_.end() || row >= size()) return nullptr;
  return &values_[row * keys_.size() + static_cast<size_t>(at - keys_.begin())];
}

std::string_view Rows::Text(size_t row, std::string_view key) const {
  const Value* const value = At(row, key);
  const auto* const text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<double> Rows::Number(size_t row, std::string_view key) const {
  const Value* const value = At(row, key);
  if (value == nullptr) return std::nullopt;
  if (const auto* const whole = std::get_if<int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* const decimal = std::get_if<double>(value)) return *decimal;
  return std::nullopt;
}

int64_t Rows::Count(size_t row, std::string_view key) const {
  const Value* const value = At(row, key);
  const auto* const whole = value == nullptr ? nullptr : std::get_if<int64_t>(value);
  return whole == nullptr ? 0 : *whole;
}

void Rows::Add(std::span<const Cell> cells) {
  for (const Cell& cell : cells) {
    if (const auto* const whole = std::get_if<int64_t>(&cell.value)) {
      values_.emplace_back(*whole);
    } else if (const auto* const decimal = std::get_if<double>(&cell.value)) {
      values_.emplace_back(*decimal);
    } else if (const auto* const text = std::get_if<std::string_view>(&cell.value)) {
      values_.emplace_back(std::string(*text));
    } else {
      values_.emplace_back();
    }
  }
}

std::unique_ptr<prof::Sink> KeptTables::NewTable() {
  Rows* const rows = tables_.emplace_back(std::make_unique<Rows>()).get();
  if (streamed_ != nullptr && tables_.size() == 1) return std::make_unique<PassingSink>(streamed_);
  return std::make_unique<KeepingSink>(rows);
}

}  // namespace oplens::screen
