#include "parse/counters/counter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/shown_text.h"
#include "parse/counters/counter_metrics.h"
#include "parse/counters/counter_numbers.h"
#include "parse/counters/csv_scanner.h"
#include "parse/counters/torch_counters.h"
#include "parse/source/byte_source.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kAdvice = "export it again: ncu --import REPORT --csv --page raw";
constexpr size_t kMostCounterBytes = size_t{1} << 31;
constexpr size_t kNoCell = SIZE_MAX;

/// What the header of a table says of its cells.
struct TableLayout {
  enum Column : size_t {
    kId,
    kProcess,
    kName,
    kGrid,
    kBlock,
    kDevice,
    kMetric,
    kUnit,
    kValue,
    kColumnCount
  };
  std::array<size_t, kColumnCount> at;
  size_t cells = 0;

  /// A column a metric (page raw), otherwise a row a metric.
  struct WideColumn {
    size_t at = 0;
    CounterMetric metric = CounterMetric::kFadd;
    std::string name;
    std::string unit;
  };
  bool quoted = false;
  bool wide = false;
  bool has_units = false;  ///< Of a wide table: the row below the header was read.
  std::vector<WideColumn> columns;
};

constexpr std::pair<std::string_view, TableLayout::Column> kColumnNames[] = {
    {"ID", TableLayout::kId},
    {"Process ID", TableLayout::kProcess},
    {"Kernel Name", TableLayout::kName},
    {"Grid Size", TableLayout::kGrid},
    {"Block Size", TableLayout::kBlock},
    {"Device", TableLayout::kDevice},
    {"Metric Name", TableLayout::kMetric},
    {"Metric Unit", TableLayout::kUnit},
    {"Metric Value", TableLayout::kValue},
};

/// Whether a line is the header of a table of ncu.
bool IsHeader(std::string_view line) {
  return (line.starts_with("\"ID\",") || line.starts_with("ID,")) &&
         line.find("Kernel Name") != std::string_view::npos;
}

/// Whether a line begins a row: with the number of a kernel, or empty, as the row of units.
bool BeginsRow(std::string_view line, const TableLayout& layout) {
  if (layout.quoted && !line.starts_with('"')) return false;
  if (layout.quoted) line.remove_prefix(1);
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits == 0 && (!layout.wide || layout.has_units)) return false;
  return line.substr(digits).starts_with(layout.quoted ? "\"," : ",");
}

/// A value as written, until the style of the file's numbers is known.
struct WrittenValue {
  uint32_t kernel = 0;
  CounterMetric metric = CounterMetric::kFadd;
  std::string name;
  std::string text;
  std::string unit;
  int64_t line = 0;
  int64_t column = 0;
};

class CounterReader {
 public:
  CounterReader(std::string_view text, std::string_view path) : in_(text), path_(path) {}

  CounterTable Read();

 private:
  [[noreturn]] void Fail(int64_t line, int64_t column, std::string_view problem) const {
    throw Error(path_, fmt::format("line {}, column {}: {}", line, column, problem), kAdvice);
  }
  [[noreturn]] void FailAt(const CsvCell& cell, std::string_view problem) const {
    Fail(cell.line, cell.column, problem);
  }

  void ReadHeader();
  void ReadRow();
  void ReadUnits();
  void ReadWide();
  void ReadLong();
  void AddValue(uint32_t kernel, CounterMetric metric, std::string_view name, std::string_view unit,
                const CsvCell& cell);
  uint32_t KernelOfRow();
  const CsvCell* CellOf(TableLayout::Column column) const {
    const size_t at = layout_.at[column];
    return at < cells_.size() ? &cells_[at] : nullptr;
  }
  std::optional<int64_t> WholeOf(TableLayout::Column column) const;
  Dim3 ExtentOf(TableLayout::Column column) const;
  void Convert();

  CsvScanner in_;
  std::string path_;
  TableLayout layout_;
  std::vector<CsvCell> cells_;
  bool found_ = false;
  using KernelsById = std::map<std::pair<std::string, std::string>, uint32_t>;
  KernelsById kernels_;  // Of the current table, by process and id.
  KernelsById::iterator last_ = kernels_.end();
  NumberStyleFinder style_;
  std::vector<WrittenValue> values_;
  CounterTable table_;
};

void CounterReader::ReadHeader() {
  std::string_view line;
  in_.PeekLine(&line);
  if (!in_.ReadRow(&cells_)) FailAt(in_.problem_at(), in_.problem());
  layout_ = TableLayout();
  layout_.at.fill(kNoCell);
  layout_.cells = cells_.size();
  layout_.quoted = line.find('"') < line.find(',');
  kernels_.clear();
  last_ = kernels_.end();
  found_ = true;
  for (size_t i = 0; i < cells_.size(); ++i) {
    for (const auto& [name, column] : kColumnNames) {
      if (cells_[i].text == name && layout_.at[column] == kNoCell) layout_.at[column] = i;
    }
  }
  for (const TableLayout::Column column : {TableLayout::kId, TableLayout::kName}) {
    if (layout_.at[column] == kNoCell) FailAt(cells_[0], "no column 'ID' or 'Kernel Name'");
  }
  layout_.wide = layout_.at[TableLayout::kMetric] == kNoCell;
  if (!layout_.wide) {
    if (layout_.at[TableLayout::kValue] == kNoCell) FailAt(cells_[0], "no column 'Metric Value'");
    return;
  }
  for (size_t i = 0; i < cells_.size(); ++i) {
    // Grid and block stand as extents, not as metrics of the same name.
    if (i == layout_.at[TableLayout::kGrid] || i == layout_.at[TableLayout::kBlock]) continue;
    const std::optional<CounterMetric> metric = CounterMetricOf(cells_[i].text);
    if (metric) layout_.columns.push_back({i, *metric, std::string(cells_[i].text), {}});
  }
}

std::optional<int64_t> CounterReader::WholeOf(TableLayout::Column column) const {
  const CsvCell* cell = CellOf(column);
  int64_t number = 0;
  if (cell == nullptr || !ParseNumber(cell->text, &number)) return std::nullopt;
  return number;
}

/// "(640, 1280, 1)", or with an x between the numbers; anything else is unknown.
Dim3 CounterReader::ExtentOf(TableLayout::Column column) const {
  const CsvCell* cell = CellOf(column);
  if (cell == nullptr) return kUnknownExtent;
  std::array<int64_t, 3> numbers = {};
  size_t count = 0;
  std::string_view rest = cell->text;
  while (true) {
    const size_t begin = rest.find_first_of("0123456789");
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(rest.find_first_not_of("0123456789", begin), rest.size());
    if (count == numbers.size() || !ParseNumber(rest.substr(begin, end - begin), &numbers[count])) {
      return kUnknownExtent;
    }
    ++count;
    rest.remove_prefix(end);
  }
  if (count != numbers.size()) return kUnknownExtent;
  return {numbers[0], numbers[1], numbers[2]};
}

uint32_t CounterReader::KernelOfRow() {
  const CsvCell* process = CellOf(TableLayout::kProcess);
  const std::string_view process_text = process == nullptr ? std::string_view() : process->text;
  const std::string_view id = CellOf(TableLayout::kId)->text;
  if (last_ != kernels_.end() && last_->first.first == process_text && last_->first.second == id) {
    return last_->second;
  }
  std::pair key{std::string(process_text), std::string(id)};
  const auto next = static_cast<uint32_t>(table_.kernels.size());
  const auto [at, is_new] = kernels_.emplace(std::move(key), next);
  last_ = at;
  if (!is_new) return at->second;
  CountedKernel kernel;
  if (const CsvCell* name = CellOf(TableLayout::kName)) kernel.name = name->text;
  kernel.grid = ExtentOf(TableLayout::kGrid);
  kernel.block = ExtentOf(TableLayout::kBlock);
  kernel.device = WholeOf(TableLayout::kDevice);
  table_.kernels.push_back(std::move(kernel));
  return next;
}

void CounterReader::AddValue(uint32_t kernel, CounterMetric metric, std::string_view name,
                             std::string_view unit, const CsvCell& cell) {
  // The metric does not exist on this GPU, or was not collected.
  if (cell.text.empty() || cell.text == "n/a" || cell.text == "N/A") return;
  values_.push_back({kernel, metric, std::string(name), std::string(cell.text), std::string(unit),
                     cell.line, cell.column});
}

void CounterReader::ReadUnits() {
  layout_.has_units = true;
  for (TableLayout::WideColumn& column : layout_.columns) {
    if (column.at < cells_.size()) column.unit = cells_[column.at].text;
  }
}

void CounterReader::ReadWide() {
  if (cells_.size() != layout_.cells) {
    FailAt(cells_.back(),
           fmt::format("the row has {} cells, its header {}", cells_.size(), layout_.cells));
  }
  if (cells_[layout_.at[TableLayout::kId]].text.empty()) return ReadUnits();
  const uint32_t kernel = KernelOfRow();
  for (size_t i = layout_.at[TableLayout::kName] + 1; i < cells_.size(); ++i) {
    style_.Look(cells_[i].text);
  }
  for (const TableLayout::WideColumn& column : layout_.columns) {
    AddValue(kernel, column.metric, column.name, column.unit, cells_[column.at]);
  }
}

void CounterReader::ReadLong() {
  const CsvCell* metric = CellOf(TableLayout::kMetric);
  const CsvCell* value = CellOf(TableLayout::kValue);
  const uint32_t kernel = KernelOfRow();
  if (metric == nullptr) FailAt(cells_.back(), "the row ends before its metric");
  if (metric->text.empty()) return;  // What a rule of ncu says.
  if (value == nullptr) FailAt(cells_.back(), "the row ends before its value");
  style_.Look(value->text);
  const std::optional<CounterMetric> known = CounterMetricOf(metric->text);
  if (!known) return;
  const CsvCell* unit = CellOf(TableLayout::kUnit);
  AddValue(kernel, *known, metric->text, unit == nullptr ? std::string_view() : unit->text, *value);
}

void CounterReader::ReadRow() {
  if (!in_.ReadRow(&cells_)) FailAt(in_.problem_at(), in_.problem());
  if (layout_.wide) {
    ReadWide();
  } else {
    ReadLong();
  }
}

void CounterReader::Convert() {
  std::vector<MetricValues> metrics(table_.kernels.size());
  for (const WrittenValue& written : values_) {
    const std::optional<double> number = ParseLocalNumber(written.text, style_.style());
    if (!number) {
      Fail(written.line, written.column,
           fmt::format("'{}' of {} is no number", prof::ShownText(written.text), written.name));
    }
    const std::optional<double> factor = UnitFactor(written.unit);
    if (!factor) {
      Fail(written.line, written.column,
           fmt::format("the unit '{}' of {} is not known", prof::ShownText(written.unit),
                       written.name));
    }
    if (*number < 0) {
      Fail(written.line, written.column,
           fmt::format("'{}' of {} is negative", prof::ShownText(written.text), written.name));
    }
    const bool bytes = written.unit.ends_with("byte");
    if (bytes && *factor > 1) table_.rounded = true;
    metrics[written.kernel].Set(written.metric, written.name, *number * *factor);
  }
  for (size_t i = 0; i < table_.kernels.size(); ++i) {
    CountedKernel& kernel = table_.kernels[i];
    kernel.counters = metrics[i].Counters(kernel.name);
    kernel.blocks = metrics[i].Whole(CounterMetric::kBlocks);
    kernel.threads = metrics[i].Whole(CounterMetric::kThreads);
  }
}

CounterTable CounterReader::Read() {
  for (std::string_view line; in_.PeekLine(&line);) {
    if (IsHeader(line)) {
      ReadHeader();
    } else if (found_ && BeginsRow(line, layout_)) {
      ReadRow();
    } else {
      in_.SkipLine();
    }
  }
  if (!found_) throw Error(path_, "holds no table of Nsight Compute", kAdvice);
  if (table_.kernels.empty()) {
    throw Error(path_, "holds a table of Nsight Compute without kernels", kAdvice);
  }
  Convert();
  return std::move(table_);
}

}  // namespace

bool LooksLikeCounters(std::string_view head) {
  const size_t mark = head.starts_with("\xef\xbb\xbf") ? 3 : 0;
  head.remove_prefix(mark);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (IsHeader(line)) return true;
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return false;
}

CounterTable ParseCounters(std::string_view text, std::string_view path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') return ParseTorchCounters(text, path);
  return CounterReader(text, path).Read();
}

CounterTable ReadCounters(const std::string& path) {
  InputBytes file(path);
  std::string text;
  constexpr size_t kPiece = size_t{1} << 20;
  while (true) {
    const size_t before = text.size();
    text.resize(before + kPiece);
    const size_t read = file.Read(text.data() + before, kPiece);
    text.resize(before + read);
    if (read == 0) break;
    if (text.size() > kMostCounterBytes) {
      throw Error(path, "is larger than 2 GB", "export fewer metrics: ncu --metrics");
    }
  }
  if (text.starts_with(std::string_view("NVR\0", 4))) {
    throw Error(
        path, "is a report of Nsight Compute",
        fmt::format("export it: ncu --import {} --csv --page raw > FILE", prof::ShownText(path)));
  }
  if (const std::string damage = file.damage(); !damage.empty()) {
    throw Error(path, fmt::format("cannot be unpacked: {}", damage), "copy the file again");
  }
  return ParseCounters(text, path);
}

}  // namespace oplens::parse
