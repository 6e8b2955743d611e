#include "report/data/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/append_format.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "report/data/pack.h"

namespace oplens::report {
namespace {

constexpr int64_t kLargestExact = int64_t{1} << 53;

}  // namespace

void AppendJsonInteger(int64_t value, std::string* out) {
  const bool exact = value >= -kLargestExact && value <= kLargestExact;
  if (!exact) out->push_back('"');
  AppendInteger(value, out);
  if (!exact) out->push_back('"');
}

void AppendJsonDecimal(double value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append("null");
  } else if (std::trunc(value) == value && std::abs(value) <= static_cast<double>(kLargestExact)) {
    AppendJsonInteger(static_cast<int64_t>(value), out);
  } else {
    AppendFormat(out, "{:.{}g}", value, kDecimalDigits);
  }
}

std::string* Column::NextValue() {
  if (rows_++ > 0) values_.push_back(',');
  return &values_;
}

void Column::AddUnknown() {
  if (numbers_) {
    NextValue()->append("null");
    return;
  }
  ++rows_;
  places_.push_back(kUnknown);
}

void Column::AddInteger(int64_t value) {
  if (numbers_) return AppendJsonInteger(value, NextValue());
  scratch_.clear();
  AppendJsonInteger(value, &scratch_);
  AddJson(scratch_);
}

void Column::AddDecimal(double value) {
  if (numbers_) return AppendJsonDecimal(value, NextValue());
  scratch_.clear();
  AppendJsonDecimal(value, &scratch_);
  AddJson(scratch_);
}

std::string Column::Shown(std::string_view text) const {
  const std::string cut = cutter_->MayCut(text) ? cutter_->Cut(text) : std::string(text);
  std::string valid;
  AppendUtf8(cut, Utf8Hidden::kNothing, &valid);
  return valid;
}

void Column::AddText(std::string_view text) {
  if (numbers_) {
    // Escapes commas: values of a number column are separated by them.
    scratch_.clear();
    AppendJsonString(Shown(text), &scratch_);
    std::string* out = NextValue();
    for (const char c : scratch_) {
      if (c == ',') {
        out->append("\\u002c");
      } else {
        out->push_back(c);
      }
    }
    return;
  }
  ++rows_;
  const auto known = texts_.find(text);
  if (known != texts_.end()) {
    places_.push_back(known->second);
    return;
  }
  // Texts that are shown alike share an entry.
  const std::string shown = Shown(text);
  int32_t place = kUnknown;
  if (const auto same = texts_.find(shown); same != texts_.end()) {
    place = same->second;
  } else {
    scratch_.clear();
    AppendJsonString(shown, &scratch_);
    place = NewEntry(scratch_);
    texts_.emplace(shown, place);
  }
  if (shown != text) texts_.emplace(text, place);
  places_.push_back(place);
}

void Column::AddTexts(std::span<const std::string_view> texts) {
  std::string json = "[";
  for (const std::string_view text : texts) {
    if (json.size() > 1) json.push_back(',');
    AppendJsonString(Shown(text), &json);
  }
  json.push_back(']');
  AddJson(json);
}

void Column::AddJson(std::string_view json) {
  if (numbers_) {
    NextValue()->append(json.find(',') == std::string_view::npos ? json : "null");
    return;
  }
  ++rows_;
  const auto known = json_.find(json);
  if (known != json_.end()) {
    places_.push_back(known->second);
    return;
  }
  const int32_t place = NewEntry(json);
  json_.emplace(json, place);
  places_.push_back(place);
}

int32_t Column::NewEntry(std::string_view json) {
  if (!ends_.empty()) entries_.push_back(',');
  entries_.append(json);
  ends_.push_back(entries_.size());
  return static_cast<int32_t>(ends_.size() - 1);
}

void Column::Write(size_t rows, std::string* out) const {
  rows = std::min(rows, rows_);
  if (numbers_) {
    size_t end = values_.size();
    if (rows < rows_) {
      // Values contain no commas.
      end = 0;
      for (size_t row = 0; row < rows; ++row) end = values_.find(',', end) + 1;
      if (end > 0) --end;
    }
    out->append("{\"v\":[").append(values_, 0, end).append("]}");
    return;
  }
  // Entries are in order of first use.
  int32_t last = kUnknown;
  for (size_t row = 0; row < rows; ++row) last = std::max(last, places_[row]);
  out->append("{\"d\":[");
  if (last != kUnknown) out->append(entries_, 0, ends_[static_cast<size_t>(last)]);
  out->append("],\"i\":[");
  for (size_t row = 0; row < rows; ++row) {
    if (row > 0) out->push_back(',');
    AppendInteger(places_[row], out);
  }
  out->append("]}");
}

void WriteColumns(const std::vector<Column>& columns, size_t rows, std::string* out) {
  out->append("{\"columns\":[");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out->push_back(',');
    columns[i].Write(rows, out);
  }
  out->append("]}");
}

std::string PackColumns(std::vector<Column> columns) {
  Deflater packed;
  std::string json = "{\"columns\":[";
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) json.push_back(',');
    columns[i].Write(columns[i].rows(), &json);
    columns[i] = Column(true, nullptr);
    packed.Add(json);
    json.clear();
  }
  packed.Add("]}");
  return packed.Finish();
}

}  // namespace oplens::report
