#include "prof/compat/torch/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/utf8.h"

namespace oplens::prof {
namespace {

constexpr size_t kColumn = 12;
constexpr size_t kPadding = 4;
constexpr size_t kMostName = 55;
constexpr size_t kMostShapes = 80;
constexpr size_t kMostSource = 75;
constexpr size_t kMostFrames = 5;
constexpr double kUsPerMs = 1e3;
constexpr double kUsPerSecond = 1e6;

// Printed texts are valid UTF-8; as in Python, widths count characters.

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string TorchTableShown(std::string_view text) {
  std::string shown;
  AppendUtf8(text, Utf8Hidden::kControls, &shown);
  return shown;
}

size_t TorchTableLengthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

/// Offset of the `number`-th character; the end of the text if there is none.
size_t TorchTablePlaceOf(std::string_view text, size_t number) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (BeginsCharacter(text[i]) && number-- == 0) return i;
  }
  return text.size();
}

std::string_view First(std::string_view text, size_t count) {
  return text.substr(0, TorchTablePlaceOf(text, count));
}

double TorchTableMicroseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }
double PerCall(double us, int64_t calls) {
  return calls == 0 ? 0.0 : us / static_cast<double>(calls);
}

EventTimesUs TimesOf(const EventRow& row) {
  if (row.us) return *row.us;
  return {TorchTableMicroseconds(row.host_self_ns), TorchTableMicroseconds(row.host_total_ns),
          TorchTableMicroseconds(row.device_self_ns), TorchTableMicroseconds(row.device_total_ns)};
}

std::string TorchTableTimeText(double us) {
  if (us >= kUsPerSecond) return fmt::format("{:.3f}s", us / kUsPerSecond);
  if (us >= kUsPerMs) return fmt::format("{:.3f}ms", us / kUsPerMs);
  return fmt::format("{:.3f}us", us);
}

std::string ShareText(double us, double whole_us) {
  return whole_us == 0 ? std::string("NaN") : fmt::format("{:.2f}%", us * 100.0 / whole_us);
}

/// Units from large to small.
struct MemoryUnits {
  std::string_view giga;
  std::string_view mega;
  std::string_view kilo;
  std::string_view one;
};
constexpr MemoryUnits kUnits113 = {"Gb", "Mb", "Kb", "b"};
constexpr MemoryUnits kUnits213 = {"GB", "MB", "KB", "B"};

std::string MemoryText(int64_t bytes, const MemoryUnits& units) {
  constexpr double kKilo = 1024;
  const auto amount = static_cast<double>(bytes);
  const double size = std::fabs(amount);
  if (size >= kKilo * kKilo * kKilo) {
    return fmt::format("{:.2f} {}", amount / (kKilo * kKilo * kKilo), units.giga);
  }
  if (size >= kKilo * kKilo) return fmt::format("{:.2f} {}", amount / (kKilo * kKilo), units.mega);
  if (size >= kKilo) return fmt::format("{:.2f} {}", amount / kKilo, units.kilo);
  return fmt::format("{} {}", bytes, units.one);
}

void Pad(size_t count, char with, std::string* out) { out->append(count, with); }

/// Right-justified to `width` characters; longer texts are not cut.
void AppendTorchTableRight(std::string_view text, size_t width, std::string* out) {
  const size_t length = TorchTableLengthOf(text);
  if (length < width) Pad(width - length, ' ', out);
  out->append(text);
}
void AppendTorchTableLeft(std::string_view text, size_t width, std::string* out) {
  const size_t length = TorchTableLengthOf(text);
  out->append(text);
  if (length < width) Pad(width - length, ' ', out);
}

class Table {
 public:
  Table(std::span<const EventRow> rows, const TorchTableOptions& options)
      : rows_(rows),
        options_(options),
        units_(options.version == kTorch113 ? kUnits113 : kUnits213) {}

  std::string Text() {
    Measure();
    AddColumns();
    if (!options_.header.empty()) {
      Pad(line_length_, '=', &out_);
      out_ += '\n';
      out_ += TorchTableShown(options_.header);
      out_ += '\n';
    }
    AddRule();
    AddLine(headers_);
    AddRule();
    const size_t count = std::min(rows_.size(), options_.row_limit);
    for (size_t i = 0; i < count; ++i) AddRow(rows_[i]);
    AddRule();
    out_ += fmt::format("Self CPU time total: {}\n", TorchTableTimeText(self_host_us_));
    if (device_)
      out_ += fmt::format("Self {} time total: {}\n", options_.device,
                          TorchTableTimeText(self_device_us_));
    return std::move(out_);
  }

 private:
  /// Determines widths, sums, and which columns are present.
  void Measure() {
    size_t longest_name = 0;
    size_t longest_shapes = 0;
    size_t longest_frame = 0;
    for (const EventRow& row : rows_) {
      const EventTimesUs us = TimesOf(row);
      longest_name = std::max(longest_name, TorchTableLengthOf(TorchTableShown(row.name)));
      longest_shapes = std::max(longest_shapes, TorchTableLengthOf(row.shapes));
      device_ = device_ || us.device_self > 0;
      device_memory_ |= row.device_self_bytes > 0 && !options_.device.empty();
      shapes_ = shapes_ || (!row.shapes.empty() && row.shapes != "[]");
      for (const std::string_view frame : row.stack) {
        longest_frame = std::max(longest_frame, TorchTableLengthOf(TorchTableShown(frame)));
        stack_ = true;
      }
      overload_ = overload_ || !row.overload.empty();
    }
    SumTimes();
    name_width_ = std::min(longest_name + kPadding, kMostName);
    shapes_width_ = std::min(longest_shapes + kPadding, kMostShapes);
    source_width_ = std::min(longest_frame + kPadding, kMostSource);
  }

  /// Of device rows, labels are not work.
  void SumTimes() {
    Checked host_ns;
    Checked device_ns;
    bool floats = false;
    for (const EventRow& row : rows_) {
      const bool work = row.device && !row.annotation;
      const EventTimesUs us = TimesOf(row);
      floats = floats || row.us.has_value();
      self_host_us_ += us.host_self;
      if (work) self_device_us_ += us.device_self;
      host_ns += row.host_self_ns;
      if (work) device_ns += row.device_self_ns;
    }
    if (floats) return;
    self_host_us_ = host_ns.Approximate().value_or(0) / 1e3;
    self_device_us_ = device_ns.Approximate().value_or(0) / 1e3;
  }

  void AddColumns() {
    headers_ = {"Name"};
    if (overload_) headers_.emplace_back("Overload Name");
    headers_.insert(headers_.end(),
                    {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"});
    if (device_) {
      for (const char* form : {"Self {}", "Self {} %", "{} total", "{} time avg"}) {
        headers_.push_back(fmt::format(fmt::runtime(form), options_.device));
      }
    }
    if (options_.memory) {
      headers_.insert(headers_.end(), {"CPU Mem", "Self CPU Mem"});
      if (device_memory_) {
        headers_.push_back(fmt::format("{} Mem", options_.device));
        headers_.push_back(fmt::format("Self {} Mem", options_.device));
      }
    }
    headers_.emplace_back("# of Calls");
    widths_.assign(headers_.size(), kColumn);
    widths_.front() = name_width_;
    if (overload_) widths_[1] = name_width_;
    const auto add = [&](const char* header, size_t width) {
      headers_.emplace_back(header);
      widths_.push_back(width);
    };
    if (shapes_) add("Input Shapes", shapes_width_);
    if (stack_) add("Source Location", source_width_);
    for (const size_t width : widths_) line_length_ += width + 2;
    line_length_ -= 2;
  }

  void AddRule() {
    for (const size_t width : widths_) {
      Pad(width, '-', &out_);
      out_ += "  ";
    }
    out_ += '\n';
  }

  void AddLine(const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (stack_ && i + 1 == cells.size()) {
        AppendTorchTableLeft(cells[i], widths_[i], &out_);
      } else {
        AppendTorchTableRight(cells[i], widths_[i], &out_);
      }
      out_ += "  ";
    }
    out_ += '\n';
  }

  /// The end of a frame longer than its column, after "...".
  std::string SourceText(std::string_view frame) const {
    std::string text = TorchTableShown(frame);
    const size_t length = TorchTableLengthOf(text);
    if (length > source_width_) text.erase(0, TorchTablePlaceOf(text, length - source_width_));
    if (length > source_width_ && source_width_ > 3) {
      text.replace(0, TorchTablePlaceOf(text, 3), "...");
    }
    return text;
  }

  /// A name of a column's width; longer ones end in "...".
  static std::string NameText(std::string_view name) {
    std::string text = TorchTableShown(name);
    if (TorchTableLengthOf(text) < kMostName - 3) return text;
    return fmt::format("{}...", First(text, kMostName - 3));
  }

  void AddRow(const EventRow& row) {
    const EventTimesUs us = TimesOf(row);
    std::vector<std::string> cells = {NameText(row.name)};
    if (overload_) cells.push_back(NameText(row.overload));
    cells.insert(cells.end(),
                 {ShareText(us.host_self, self_host_us_), TorchTableTimeText(us.host_self),
                  ShareText(us.host_total, self_host_us_), TorchTableTimeText(us.host_total),
                  TorchTableTimeText(PerCall(us.host_total, row.calls))});
    if (device_) {
      cells.push_back(TorchTableTimeText(us.device_self));
      cells.push_back(ShareText(us.device_self, self_device_us_));
      cells.push_back(TorchTableTimeText(us.device_total));
      cells.push_back(TorchTableTimeText(PerCall(us.device_total, row.calls)));
    }
    if (options_.memory) {
      cells.push_back(MemoryText(row.host_bytes, units_));
      cells.push_back(MemoryText(row.host_self_bytes, units_));
      if (device_memory_) {
        cells.push_back(MemoryText(row.device_bytes, units_));
        cells.push_back(MemoryText(row.device_self_bytes, units_));
      }
    }
    cells.push_back(std::to_string(row.calls));
    if (shapes_) cells.emplace_back(First(row.shapes, shapes_width_));
    if (stack_) cells.push_back(row.stack.empty() ? "" : SourceText(row.stack.front()));
    AddLine(cells);
    if (!stack_) return;
    std::vector<std::string> rest(cells.size());
    for (size_t i = 1; i < std::min(row.stack.size(), kMostFrames); ++i) {
      rest.back() = SourceText(row.stack[i]);
      AddLine(rest);
    }
    rest.back().clear();
    AddLine(rest);
  }

  std::span<const EventRow> rows_;
  const TorchTableOptions& options_;
  const MemoryUnits& units_;
  bool device_ = false;
  bool device_memory_ = false;
  bool shapes_ = false;
  bool stack_ = false;
  bool overload_ = false;
  double self_host_us_ = 0;
  double self_device_us_ = 0;
  size_t name_width_ = 0;
  size_t shapes_width_ = 0;
  size_t source_width_ = 0;
  size_t line_length_ = 0;
  std::vector<std::string> headers_;
  std::vector<size_t> widths_;
  std::string out_;
};

struct SortKey {
  std::string_view word;  ///< A device's words have "device" for its name.
  double (*value)(const EventRow& row);
};

template <auto member>
double ValueOf(const EventRow& row) {
  return static_cast<double>(row.*member);
}
template <auto member>
double TimeOf(const EventRow& row) {
  return TimesOf(row).*member;
}

constexpr SortKey kSortKeys[] = {
    {"cpu_time", [](const EventRow& row) { return PerCall(TimesOf(row).host_total, row.calls); }},
    {"device_time",
     [](const EventRow& row) { return PerCall(TimesOf(row).device_total, row.calls); }},
    {"cpu_time_total", TimeOf<&EventTimesUs::host_total>},
    {"device_time_total", TimeOf<&EventTimesUs::device_total>},
    {"count", ValueOf<&EventRow::calls>},
    {"self_cpu_time_total", TimeOf<&EventTimesUs::host_self>},
    {"self_device_time_total", TimeOf<&EventTimesUs::device_self>},
    {"cpu_memory_usage", ValueOf<&EventRow::host_bytes>},
    {"device_memory_usage", ValueOf<&EventRow::device_bytes>},
    {"self_cpu_memory_usage", ValueOf<&EventRow::host_self_bytes>},
    {"self_device_memory_usage", ValueOf<&EventRow::device_self_bytes>},
};
constexpr size_t kLegacyWords = 5;

constexpr std::string_view kDevice = "device";
/// What words may call the device; 1.13 knows the first.
constexpr std::string_view kDeviceNames[] = {"cuda", "device", "xpu", "privateuse1"};

/// `word` with one name of the device in place of another; unchanged if it has none.
std::string WithName(std::string_view word, std::string_view from, std::string_view to) {
  const size_t at = word.find(from);
  if (at == std::string_view::npos) return std::string(word);
  return fmt::format("{}{}{}", word.substr(0, at), to, word.substr(at + from.size()));
}

/// The words with the first `names` names of the device.
std::vector<std::string> MakeSortWords(size_t names) {
  std::vector<std::string> words;
  for (size_t i = 0; i < names; ++i) {
    for (const SortKey& key : kSortKeys) {
      const bool of_device = key.word.find(kDevice) != std::string_view::npos;
      if (i > 0 && !of_device) continue;
      words.push_back(WithName(key.word, kDevice, kDeviceNames[i]));
    }
  }
  return words;
}

/// As views of texts that stay.
template <size_t names>
std::span<const std::string_view> SortWords() {
  static const std::vector<std::string> texts = MakeSortWords(names);
  static const std::vector<std::string_view> words(texts.begin(), texts.end());
  return words;
}

}  // namespace

std::span<const std::string_view> TorchSortWords() { return SortWords<std::size(kDeviceNames)>(); }
std::span<const std::string_view> Torch113SortWords() { return SortWords<1>(); }
std::span<const std::string_view> TorchLegacySortWords() {
  return Torch113SortWords().first(kLegacyWords);
}

double TorchSortValue(const EventRow& row, std::string_view word) {
  std::string wanted(word);
  for (const std::string_view name : kDeviceNames) wanted = WithName(wanted, name, kDevice);
  for (const SortKey& key : kSortKeys) {
    if (key.word == wanted) return key.value(row);
  }
  return 0;
}

std::string TorchTable(std::span<const EventRow> rows, const TorchTableOptions& options) {
  return rows.empty() ? std::string() : Table(rows, options).Text();
}

std::string TorchLegacyTable(std::span<const EventRow> rows, std::string_view header) {
  if (rows.empty()) return {};
  constexpr size_t kNumber = 15;
  constexpr size_t kNumbers = 5;
  size_t name_width = 0;
  for (const EventRow& row : rows) {
    name_width = std::max(name_width, TorchTableLengthOf(TorchTableShown(row.name)));
  }
  name_width += kPadding;
  std::string out;
  const auto add_line = [&](std::string_view name, const std::string(&cells)[kNumbers]) {
    AppendTorchTableLeft(name, name_width, &out);
    for (const std::string& cell : cells) {
      out += "  ";
      AppendTorchTableRight(cell, kNumber, &out);
    }
    out += '\n';
  };
  const auto add_rule = [&] {
    Pad(name_width, '-', &out);
    for (size_t i = 0; i < kNumbers; ++i) {
      out += "  ";
      Pad(kNumber, '-', &out);
    }
    out += '\n';
  };
  const auto time_text = [](double us) { return fmt::format("{:.3f}us", us); };
  if (!header.empty()) {
    Pad(name_width + (kNumber + 2) * kNumbers, '=', &out);
    out += fmt::format("\n{}\n", TorchTableShown(header));
  }
  add_rule();
  add_line("Name", {"CPU time", "CUDA time", "Calls", "CPU total", "CUDA total"});
  add_rule();
  for (const EventRow& row : rows) {
    add_line(TorchTableShown(row.name),
             {time_text(PerCall(TorchTableMicroseconds(row.host_total_ns), row.calls)),
              time_text(PerCall(TorchTableMicroseconds(row.device_total_ns), row.calls)),
              std::to_string(row.calls), time_text(TorchTableMicroseconds(row.host_total_ns)),
              time_text(TorchTableMicroseconds(row.device_total_ns))});
  }
  return out;
}

}  // namespace oplens::prof
