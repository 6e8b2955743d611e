#ifndef OPLENS_PROF_TABLE_KEPT_ROWS_H_
#define OPLENS_PROF_TABLE_KEPT_ROWS_H_

// Public header: installed, docs/library.md.

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

/// Stores rows: 16 bytes per cell, each distinct text once; lists etc. become texts.
class KeptRows {
 public:
  KeptRows() = default;
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  void Begin(std::string_view name, const std::vector<Field>& fields);
  void Add(std::span<const Cell> cells);

  const std::string& name() const { return name_; }
  const std::vector<Field>& fields() const { return fields_; }
  size_t size() const { return fields_.empty() ? 0 : values_.size() / fields_.size(); }
  /// Index of the field with this key; nullopt if there is none.
  std::optional<size_t> ColumnOf(std::string_view key) const;

  /// The cell's text; "" if unknown or a number.
  std::string_view Text(size_t row, size_t column) const;
  /// nullopt if unknown or a text.
  std::optional<double> Number(size_t row, size_t column) const;
  /// nullopt if not an integer.
  std::optional<int64_t> Integer(size_t row, size_t column) const;
  /// Any type as text, as in CSV; "" if unknown.
  std::string Printed(size_t row, size_t column) const;

  // By the field's key; unknown if there is no such field.
  std::string_view Text(size_t row, std::string_view key) const;
  std::optional<double> Number(size_t row, std::string_view key) const;
  /// 0 if not an integer.
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

/// Stores the tables of views, in the order of their plans.
class KeptTables : public Destination {
 public:
  std::unique_ptr<Sink> NewTable() override;
  bool tables_apart() const override { return true; }
  void Commit() override {}
  size_t size() const { return tables_.size(); }
  /// The table of the plan with this index.
  const KeptRows& At(size_t plan) const { return *tables_.at(plan); }

 private:
  std::deque<std::unique_ptr<KeptRows>> tables_;
};

/// Adds rows to a KeptRows.
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
