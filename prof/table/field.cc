#include "prof/table/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/append_format.h"
#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"

namespace oplens::prof {
namespace {

/// Appends a cell's text to `out`; one function per kind of value.
struct FieldTextOf {
  const Field& field;
  std::string* out;

  void Separate(size_t i) const {
    if (i > 0) out->append(field.separator);
  }
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { AppendInteger(value, out); }
  void operator()(double value) const { AppendFormat(out, "{:.3f}", value); }
  void operator()(std::string_view text) const {
    out->append(text);
    if (field.type == FieldType::kName) std::replace(out->begin(), out->end(), ' ', '_');
  }
  void operator()(std::span<const int64_t> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      Separate(i);
      AppendInteger(values[i], out);
    }
  }
  void operator()(const Cell::Texts& list) const {
    for (size_t i = 0; i < list.texts.size(); ++i) {
      Separate(i);
      out->append(list.texts[i]);
    }
    if (list.more <= 0) return;
    Separate(list.texts.size());
    AppendFormat(out, "... {} more", list.more);
  }
  void operator()(const Dim3& extent) const {
    AppendInteger(extent.x, out);
    out->append(field.separator);
    AppendInteger(extent.y, out);
    out->append(field.separator);
    AppendInteger(extent.z, out);
  }
  void operator()(ReasonSet reasons) const {
    reasons.ForEach([&](Reason reason) {
      Separate(out->size());
      out->append(ReasonWord(reason));
    });
  }
};

/// "Peak" of "Peak(B)".
std::string_view FieldWithoutUnit(std::string_view header) {
  return header.ends_with(')') ? header.substr(0, header.find('(')) : header;
}

/// The only field with this header, with or without its unit.
std::optional<size_t> FindHeader(std::string_view word, std::span<const Field> all) {
  std::optional<size_t> found;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string_view header = all[i].header;
    if (word != header && word != FieldWithoutUnit(header)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

void RankFields(std::string_view list, std::vector<Field>* fields) {
  const std::vector<std::string_view> words = WordsOf(list);
  for (size_t i = 0; i < fields->size(); ++i) {
    Field& field = (*fields)[i];
    const auto place = std::find(words.begin(), words.end(), field.key);
    const auto rank = place != words.end() ? place - words.begin()
                                           : static_cast<std::ptrdiff_t>(words.size() + i);
    field.rank = static_cast<int>(rank);
  }
}

size_t FindField(std::string_view option, std::string_view word, std::span<const Field> all) {
  std::vector<std::string_view> keys;
  for (const Field& field : all) keys.push_back(field.key);
  const size_t place = FindName(word, keys);
  if (place < all.size()) return place;
  if (const auto headed = FindHeader(word, all)) return *headed;
  keys.push_back("all");
  throw UsageError(
      fmt::format("{}: {}", option, NoSuchName("column", word, keys, "the columns are")));
}

std::vector<size_t> SelectFields(std::string_view list, std::span<const Field> all) {
  std::vector<size_t> places;
  const auto add = [&](size_t place) {
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  };
  for (const std::string_view key : WordsOf(list)) {
    if (key == "all") {
      for (size_t i = 0; i < all.size(); ++i) {
        if (!all[i].on_request) add(i);
      }
      continue;
    }
    add(FindField("-c", key, all));
  }
  return places;
}

std::string_view CellText(const Field& field, const Cell& cell, std::string* scratch) {
  if (const auto* text = std::get_if<std::string_view>(&cell.value);
      text != nullptr && field.type != FieldType::kName) {
    return *text;
  }
  if (IsUnknown(cell)) return field.unknown;
  scratch->clear();
  std::visit(FieldTextOf{field, scratch}, cell.value);
  return *scratch;
}

bool CellBefore(const Cell& a, const Cell& b) {
  if (a.value.index() != b.value.index()) return a.value.index() < b.value.index();
  if (const auto* integer = std::get_if<int64_t>(&a.value)) {
    return *integer < std::get<int64_t>(b.value);
  }
  if (const auto* decimal = std::get_if<double>(&a.value)) {
    return *decimal < std::get<double>(b.value);
  }
  if (const auto* text = std::get_if<std::string_view>(&a.value)) {
    return *text < std::get<std::string_view>(b.value);
  }
  if (const auto* list = std::get_if<Cell::Texts>(&a.value)) {
    return std::ranges::lexicographical_compare(list->texts, std::get<Cell::Texts>(b.value).texts);
  }
  if (const auto* list = std::get_if<std::span<const int64_t>>(&a.value)) {
    return std::ranges::lexicographical_compare(*list, std::get<std::span<const int64_t>>(b.value));
  }
  if (const auto* extent = std::get_if<Dim3>(&a.value)) {
    const Dim3& other = std::get<Dim3>(b.value);
    return std::tie(extent->x, extent->y, extent->z) < std::tie(other.x, other.y, other.z);
  }
  return false;
}

}  // namespace oplens::prof
