#include "prof/views/kernels/group_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <span>

#include "base/ascii.h"
#include "base/error.h"
#include "base/parse_number.h"
#include "base/shown_text.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kLabel = "label";
constexpr std::string_view kKeyOfLabel = "range";
constexpr std::string_view kNoMatch = "(no match)";

bool IsGroupKeyText(const Field& field) {
  return field.type == FieldType::kText || field.type == FieldType::kName ||
         field.type == FieldType::kTextList || field.type == FieldType::kFileList;
}

/// The first items of a list; with less than 0 the last ones.
template <typename Item>
std::span<const Item> GroupKeyPartsOf(std::span<const Item> items, int parts) {
  const size_t count = std::min(items.size(), static_cast<size_t>(std::abs(parts)));
  return parts > 0 ? items.first(count) : items.last(count);
}

/// The same of what '.' and '/' part in a text.
std::string_view GroupKeyPartsOf(std::string_view text, int parts) {
  constexpr std::string_view kBetween = "./";
  size_t at = parts > 0 ? 0 : text.size();
  for (int i = 0; i < std::abs(parts); ++i) {
    if (parts > 0) {
      at = text.find_first_of(kBetween, at + (i > 0 ? 1 : 0));
      if (at == std::string_view::npos) return text;
    } else {
      at = at == 0 ? std::string_view::npos : text.find_last_of(kBetween, at - 1);
      if (at == std::string_view::npos) return text;
    }
  }
  return parts > 0 ? text.substr(0, at) : text.substr(at + 1);
}

}  // namespace

void AppendLabel(std::string_view text, std::string* label) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i])) {
      label->push_back(text[i]);
    } else if (i == 0 || !IsDigit(text[i - 1])) {
      label->push_back('*');
    }
  }
}

Cell KeyForm::Of(const Field& field, const Cell& cell, std::string* scratch) const {
  const auto* list = std::get_if<Cell::Texts>(&cell.value);
  if (pattern_ != nullptr) {
    // In an item first, so that ^ and $ are those of a name.
    for (size_t i = 0; list != nullptr && i < list->texts.size(); ++i) {
      if (const auto found = pattern_->Find(list->texts[i])) return Text(*found);
    }
    const std::string_view text = CellText(field, cell, scratch);
    if (IsUnknown(cell) || text.empty()) return {};
    const auto found = pattern_->Find(text);
    return found ? Text(*found) : Text(kNoMatch);
  }
  Cell shortened = cell;
  if (parts_ != 0 && list != nullptr) {
    // What the record does not hold stands behind the others.
    shortened = {Cell::Texts{GroupKeyPartsOf(list->texts, parts_), 0}};
  }
  std::string_view text = CellText(field, shortened, scratch);
  if (IsUnknown(cell) || text.empty()) return {};
  if (parts_ != 0 && list == nullptr) text = GroupKeyPartsOf(text, parts_);
  if (!label_) return Text(text);
  std::string label;
  AppendLabel(text, &label);
  *scratch = std::move(label);
  return Text(*scratch);
}

std::string_view KeyOfWord(std::string_view word) {
  return word == kLabel ? kKeyOfLabel : word.substr(0, word.find_first_of(":~"));
}

GroupWord GroupWord::Read(std::string_view word) {
  GroupWord read;
  read.key = KeyOfWord(word);
  if (word == kLabel) {
    read.form.label_ = true;
    read.name = kLabel;
    return read;
  }
  std::string_view rest = word.substr(read.key.size());
  if (rest.starts_with('~')) {
    rest.remove_prefix(1);
    if (rest.empty()) {
      throw UsageError(fmt::format("--by: the pattern behind '{}~' is empty", read.key));
    }
    read.form.pattern_ = std::make_shared<const Pattern>(rest, "--by");
    return read;
  }
  const auto refuse = [&] {
    throw UsageError(
        fmt::format("--by: '{}' is no form of '{}'; the forms are {}:N and {}:-N (first and last "
                    "parts), {}:label (without numbers), {}~PATTERN",
                    ShownText(word), read.key, read.key, read.key, read.key, read.key));
  };
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view form = rest.substr(0, rest.find(':'));
    rest.remove_prefix(form.size());
    if (form == kLabel && !read.form.label_) {
      read.form.label_ = true;
      continue;
    }
    constexpr int kMostParts = 1000;
    int parts = 0;
    if (!ParseNumber(form, &parts) || parts == 0 || std::abs(parts) > kMostParts ||
        read.form.parts_ != 0 || read.form.label_) {
      refuse();
    }
    read.form.parts_ = parts;
  }
  return read;
}

void GroupWord::RefuseIfNot(const Field& field) const {
  if (form.whole() || IsGroupKeyText(field)) return;
  throw UsageError(
      fmt::format("--by: '{}' is no text: it has no parts, no label and no pattern", key));
}

std::string_view NumberedKey(std::string_view key, size_t n) {
  static std::mutex mutex;
  static std::set<std::string>* const names = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  return *names->insert(fmt::format("{}_{}", key, n)).first;
}

}  // namespace oplens::prof
