#include "prof/compat/torch/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/utf8.h"
#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "prof/run/call_stacks.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/calls/events.h"
#include "prof/views/calls/stacks.h"

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

// Texts as they are printed: valid UTF-8, of which Python counts the characters.

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string TorchTableShown(std::string_view text) {
  std::string shown;
  AppendUtf8(text, Utf8Hidden::kControls, &shown);
  return shown;
}

size_t TorchTableLengthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

/// Where the character with this number begins; the end of the text without such.
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
double PerCall(int64_t ns, int64_t calls) {
  return calls == 0 ? 0.0 : TorchTableMicroseconds(ns) / static_cast<double>(calls);
}

std::string TorchTableTimeText(double us) {
  if (us >= kUsPerSecond) return fmt::format("{:.3f}s", us / kUsPerSecond);
  if (us >= kUsPerMs) return fmt::format("{:.3f}ms", us / kUsPerMs);
  return fmt::format("{:.3f}us", us);
}

std::string ShareText(double us, double whole_us) {
  return whole_us == 0 ? std::string("NaN") : fmt::format("{:.2f}%", us * 100.0 / whole_us);
}

std::string MemoryText(int64_t bytes) {
  constexpr double kKilo = 1024;
  const auto amount = static_cast<double>(bytes);
  const double size = std::fabs(amount);
  if (size >= kKilo * kKilo * kKilo) {
    return fmt::format("{:.2f} Gb", amount / (kKilo * kKilo * kKilo));
  }
  if (size >= kKilo * kKilo) return fmt::format("{:.2f} Mb", amount / (kKilo * kKilo));
  if (size >= kKilo) return fmt::format("{:.2f} Kb", amount / kKilo);
  return fmt::format("{} b", bytes);
}

void Pad(size_t count, char with, std::string* out) { out->append(count, with); }

/// Right-justified in so many characters, more if it is longer.
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

/// Makes the lines of a table.
class Table {
 public:
  Table(std::span<const EventRow> rows, const TorchTableOptions& options)
      : rows_(rows), options_(options) {}

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
      out_ += fmt::format("Self CUDA time total: {}\n", TorchTableTimeText(self_device_us_));
    return std::move(out_);
  }

 private:
  /// Widths, sums, and which columns there are.
  void Measure() {
    size_t longest_name = 0;
    size_t longest_shapes = 0;
    size_t longest_frame = 0;
    Checked host_ns;
    Checked device_ns;
    for (const EventRow& row : rows_) {
      longest_name = std::max(longest_name, TorchTableLengthOf(TorchTableShown(row.name)));
      longest_shapes = std::max(longest_shapes, TorchTableLengthOf(row.shapes));
      device_ = device_ || row.device_self_ns > 0;
      device_memory_ = device_memory_ || row.device_self_bytes > 0;
      shapes_ = shapes_ || (!row.shapes.empty() && row.shapes != "[]");
      for (const std::string_view frame : row.stack) {
        longest_frame = std::max(longest_frame, TorchTableLengthOf(TorchTableShown(frame)));
        stack_ = true;
      }
      host_ns += row.host_self_ns;
      if (row.device) device_ns += row.device_self_ns;
    }
    self_host_us_ = host_ns.Approximate().value_or(0) / 1e3;
    self_device_us_ = device_ns.Approximate().value_or(0) / 1e3;
    name_width_ = std::min(longest_name + kPadding, kMostName);
    shapes_width_ = std::min(longest_shapes + kPadding, kMostShapes);
    source_width_ = std::min(longest_frame + kPadding, kMostSource);
  }

  void AddColumns() {
    headers_ = {"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};
    if (device_) {
      headers_.insert(headers_.end(), {"Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"});
    }
    if (options_.memory) {
      headers_.insert(headers_.end(), {"CPU Mem", "Self CPU Mem"});
      if (device_memory_) headers_.insert(headers_.end(), {"CUDA Mem", "Self CUDA Mem"});
    }
    headers_.emplace_back("# of Calls");
    widths_.assign(headers_.size(), kColumn);
    widths_.front() = name_width_;
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

  /// The end of a frame that is longer than its column, behind "...".
  std::string SourceText(std::string_view frame) const {
    std::string text = TorchTableShown(frame);
    const size_t length = TorchTableLengthOf(text);
    if (length > source_width_) text.erase(0, TorchTablePlaceOf(text, length - source_width_));
    if (length > source_width_ && source_width_ > 3) {
      text.replace(0, TorchTablePlaceOf(text, 3), "...");
    }
    return text;
  }

  void AddRow(const EventRow& row) {
    std::string name = TorchTableShown(row.name);
    if (TorchTableLengthOf(name) >= kMostName - 3)
      name = fmt::format("{}...", First(name, kMostName - 3));
    const double host_self = TorchTableMicroseconds(row.host_self_ns);
    const double host_total = TorchTableMicroseconds(row.host_total_ns);
    std::vector<std::string> cells = {std::move(name),
                                      ShareText(host_self, self_host_us_),
                                      TorchTableTimeText(host_self),
                                      ShareText(host_total, self_host_us_),
                                      TorchTableTimeText(host_total),
                                      TorchTableTimeText(PerCall(row.host_total_ns, row.calls))};
    if (device_) {
      const double device_self = TorchTableMicroseconds(row.device_self_ns);
      cells.push_back(TorchTableTimeText(device_self));
      cells.push_back(ShareText(device_self, self_device_us_));
      cells.push_back(TorchTableTimeText(TorchTableMicroseconds(row.device_total_ns)));
      cells.push_back(TorchTableTimeText(PerCall(row.device_total_ns, row.calls)));
    }
    if (options_.memory) {
      cells.push_back(MemoryText(row.host_bytes));
      cells.push_back(MemoryText(row.host_self_bytes));
      if (device_memory_) {
        cells.push_back(MemoryText(row.device_bytes));
        cells.push_back(MemoryText(row.device_self_bytes));
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
  bool device_ = false;
  bool device_memory_ = false;
  bool shapes_ = false;
  bool stack_ = false;
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
  std::string_view word;
  double (*value)(const EventRow& row);
};

template <auto member>
double ValueOf(const EventRow& row) {
  return static_cast<double>(row.*member);
}

constexpr SortKey kSortKeys[] = {
    {"cpu_time", [](const EventRow& row) { return PerCall(row.host_total_ns, row.calls); }},
    {"cuda_time", [](const EventRow& row) { return PerCall(row.device_total_ns, row.calls); }},
    {"cpu_time_total", ValueOf<&EventRow::host_total_ns>},
    {"cuda_time_total", ValueOf<&EventRow::device_total_ns>},
    {"count", ValueOf<&EventRow::calls>},
    {"self_cpu_time_total", ValueOf<&EventRow::host_self_ns>},
    {"self_cuda_time_total", ValueOf<&EventRow::device_self_ns>},
    {"cpu_memory_usage", ValueOf<&EventRow::host_bytes>},
    {"cuda_memory_usage", ValueOf<&EventRow::device_bytes>},
    {"self_cpu_memory_usage", ValueOf<&EventRow::host_self_bytes>},
    {"self_cuda_memory_usage", ValueOf<&EventRow::device_self_bytes>},
};
constexpr size_t kLegacyWords = 5;

const std::vector<std::string_view>& SortWords() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> all;
    for (const SortKey& key : kSortKeys) all.push_back(key.word);
    return all;
  }();
  return words;
}

/// Names that PyTorch leaves out of its tables: of the profiler itself, and of look-ups.
constexpr std::string_view kLeftOut[] = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

/// Steps are alike.
std::optional<std::string_view> ListedAs(std::string_view name) {
  if (std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut)) return {};
  return name.starts_with("ProfilerStep#") ? std::string_view("ProfilerStep*") : name;
}

bool IsMore(const EventRow& a, const EventRow& b, std::string_view word) {
  return TorchSortValue(a, word) > TorchSortValue(b, word);
}
bool IsLess(const EventRow& a, const EventRow& b, std::string_view word) {
  return IsMore(b, a, word);
}

std::string TorchTableOf(std::span<const EventRow> rows, const EventTable& table) {
  constexpr size_t kRows = 100;
  return TorchTable(rows, {table.memory, table.top > 0 ? table.top : kRows, table.header});
}

std::string LegacyTableOf(std::span<const EventRow> rows, const EventTable& table) {
  if (table.top > 0) rows = rows.first(std::min(table.top, rows.size()));
  return TorchLegacyTable(rows, table.header);
}

constexpr std::string_view kTorchKeys[] = {"shape", "stack", "rank"};
constexpr std::string_view kLegacyKeys[] = {"rank", "call", "total"};

/// torch/autograd/profiler_util.py of 1.13.
constexpr EventRules kTorchRules{.run = {.listed_as = ListedAs,
                                         .joins_repeated = true,
                                         .whole_calls = true,
                                         .frames = 5,
                                         .rest_of_memory = "[memory]"},
                                 .by = kTorchKeys,
                                 .before = IsMore,
                                 .table = TorchTableOf};
constexpr EventRules kLegacyRules{
    .device = false, .by = kLegacyKeys, .before = IsLess, .table = LegacyTableOf};

constexpr int64_t kNsPerUs = 1000;

/// Each call that has a stack counts with whole microseconds.
bool CountStacks(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) {
  const std::span<const parse::CallTree::Call> all = run.calls().all();
  const CallStacks stacks(run.joined(), run.calls(), {{}, front, {}, nullptr}, tree);
  std::vector<StackSums> of_calls(all.size());
  for (const DeviceEvent& event : run.work().events()) {
    const uint32_t call = run.call_work().CallOf(event);
    if (call != CallWork::kNone) of_calls[call].Add({0, event.duration_ns(), 1});
  }
  bool any = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (stacks.PathOf(i) == front) continue;
    any = true;
    StackSums sums = of_calls[i];
    sums.host_ns = all[i].self_ns / kNsPerUs * kNsPerUs;
    sums.device_ns = sums.device_ns / kNsPerUs * kNsPerUs;
    take(stacks.PathOf(i), sums);
  }
  return any;
}

}  // namespace

std::span<const std::string_view> TorchSortWords() { return SortWords(); }
std::span<const std::string_view> TorchLegacySortWords() {
  return TorchSortWords().first(kLegacyWords);
}

double TorchSortValue(const EventRow& row, std::string_view word) {
  for (const SortKey& key : kSortKeys) {
    if (key.word == word) return key.value(row);
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
             {time_text(PerCall(row.host_total_ns, row.calls)),
              time_text(PerCall(row.device_total_ns, row.calls)), std::to_string(row.calls),
              time_text(TorchTableMicroseconds(row.host_total_ns)),
              time_text(TorchTableMicroseconds(row.device_total_ns))});
  }
  return out;
}

std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kTorchRules);
}

std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kLegacyRules);
}

std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options) {
  return MakeStacksOf(options, {CountStacks, kNsPerUs});
}

}  // namespace oplens::prof
