#include "prof/table/json_cell.h"

#include <span>
#include <string_view>
#include <variant>

#include "base/append_format.h"
#include "base/json_text.h"

namespace oplens::prof {
namespace {

/// Appends a cell; one function per kind of value.
struct JsonAppender {
  std::string* out;

  void operator()(std::monostate) const { out->append("null"); }
  void operator()(int64_t value) const { AppendInteger(value, out); }
  void operator()(double value) const { AppendJsonNumber(value, out); }
  void operator()(std::string_view text) const { AppendJsonString(text, out); }
  void operator()(std::span<const int64_t> values) const { Array(values); }
  void operator()(const Cell::Texts& list) const { Array(list.texts); }
  void operator()(const Dim3& extent) const {
    const int64_t extents[] = {extent.x, extent.y, extent.z};
    Array(std::span<const int64_t>(extents));
  }
  void operator()(ReasonSet reasons) const {
    out->push_back('[');
    const size_t begin = out->size();
    reasons.ForEach([&](Reason reason) {
      if (out->size() > begin) out->push_back(',');
      AppendJsonString(ReasonWord(reason), out);
    });
    out->push_back(']');
  }

 private:
  template <typename Value>
  void Array(std::span<const Value> values) const {
    out->push_back('[');
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out->push_back(',');
      (*this)(values[i]);
    }
    out->push_back(']');
  }
};

}  // namespace

void AppendJsonCell(const Cell& cell, std::string* out) {
  std::visit(JsonAppender{out}, cell.value);
}

}  // namespace oplens::prof
