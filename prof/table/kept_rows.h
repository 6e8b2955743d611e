#ifndef OPLENS_PROF_TABLE_KEPT_ROWS_H_
#define OPLENS_PROF_TABLE_KEPT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// The rows of a table, kept: 16 bytes a cell, and each text once. Lists and the like are kept as
/// texts.
class KeptRows {
 public:
  KeptRows() = default;
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  /// The fields live as long as this object.
  void Begin(std::string_view name, const std::vector<Field>& fields);
  void Add(std::span<const Cell> cells);

  const std::string& name() const { return name_; }
  const std::vector<Field>& fields() const { return fields_; }
  size_t size() const { return fields_.empty() ? 0 : values_.size() / fields_.size(); }
  /// The place of a field; nullopt: there is none of that key.
  std::optional<size_t> ColumnOf(std::string_view key) const;

  /// The cell as a text; "" when unknown. Numbers are no texts.
  std::string_view Text(size_t row, size_t column) const;
  /// As a number; nullopt when it is unknown or a text.
  std::optional<double> Number(size_t row, size_t column) const;
  /// As a whole number; nullopt when it is none.
  std::optional<int64_t> Integer(size_t row, size_t column) const;
  /// Of whatever type as a text, as CSV has it; "" when unknown.
  std::string Printed(size_t row, size_t column) const;

  // The same by the key of the field; of one that is not there unknown.
  std::string_view Text(size_t row, std::string_view key) const;
  std::optional<double> Number(size_t row, std::string_view key) const;
  /// 0 when it is no whole number.
  int64_t Count(size_t row, std::string_view key) const;

 private:
  enum class Type : uint8_t { kUnknown, kInteger, kDecimal, kText };
  struct Value {
    Type type = Type::kUnknown;
    union {
      int64_t integer;
      double decimal;
      const std::string* text;
    };
  };

  const std::string* Keep(std::string_view text);
  const Value& At(size_t row, size_t column) const {
    return values_[row * fields_.size() + column];
  }

  std::string name_;
  std::vector<Field> fields_;
  std::vector<Value> values_;
  TextMap<bool> texts_;
  std::string scratch_;
};

/// Takes the tables of views, in the order of their plans.
class KeptTables : public Destination {
 public:
  std::unique_ptr<Sink> NewTable() override;
  void Commit() override {}
  size_t size() const { return tables_.size(); }
  /// The rows of the table of a plan by its place.
  const KeptRows& At(size_t plan) const { return *tables_.at(plan); }

 private:
  std::deque<std::unique_ptr<KeptRows>> tables_;
};

/// Gives rows to a KeptRows.
class KeepingSink : public Sink {
 public:
  /// `rows` must outlive this object.
  explicit KeepingSink(KeptRows* rows) : rows_(*rows) {}
  void Begin(std::string_view table, std::vector<Field> fields) override {
    rows_.Begin(table, fields);
  }
  void Row(std::span<const Cell> cells) override { rows_.Add(cells); }

 private:
  KeptRows& rows_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_KEPT_ROWS_H_
