#include "prof/print_rows.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "prof/input_kind.h"
#include "prof/row_queue.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxExampleChars = 80;

/// A text of the input for a message: short, and harmless on a terminal.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kMaxExampleChars));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// parse counts these by range; here there are only the kernels inside.
bool IsOfRanges(Reason reason) {
  return reason == Reason::kOpenRange || reason == Reason::kLeakedRange;
}

/// What names a case best: the op, the kernel or the row.
std::string ExampleOf(Reason reason, const Row& row) {
  std::string_view text;
  switch (reason) {
    case Reason::kUnknownOp:
    case Reason::kUnsupportedArgs:
    case Reason::kShapeMismatch:
    case Reason::kUnknownDType:
    case Reason::kCostOverflow:
    case Reason::kNoForwardMatch:
    case Reason::kAmbiguousForward:
      text = row.op;
      break;
    case Reason::kUnknownRole:
      text = row.record->short_name;
      break;
    default:
      break;
  }
  return text.empty() ? fmt::format("row {}", row.index) : Shown(text);
}

class RowPrinter {
 public:
  RowPrinter(OpChoice op_choice, RowWriter* writer, Output* output, Diagnostics* diagnostics)
      : resolver_(op_choice), writer_(writer), output_(output), diagnostics_(diagnostics) {}

  void ReadAll(LineSource* lines) {
    std::string_view line;
    while (lines->Next(&line)) {
      ++line_number_;
      if (IsBlank(line)) continue;
      ++line_count_;
      if (!Add(*lines, line)) continue;
      while (auto row = queue_.PopReady()) Write(std::move(row));
      AdvanceIfFull();
    }
    while (auto row = queue_.PopFirst()) Write(std::move(row));
    Finish(*lines);
  }

 private:
  /// Queues the record of a line; false when it has none.
  bool Add(const LineSource& lines, std::string_view line) {
    std::unique_ptr<WaitingRow> row = queue_.NewRow();
    row->line.assign(line);
    if (lines.cut()) {
      error_ = fmt::format("longer than {} MB", LineSource::kMaxLineBytes >> 20);
    } else if (row->reader.Read(row->line, &row->record, &error_)) {
      row->row.index = line_count_;
      row->resolution = resolver_.Resolve(row->record, &row->row);
      queue_.Push(std::move(row));
      return true;
    }
    CountBadLine();
    queue_.Recycle(std::move(row));
    return false;
  }

  void CountBadLine() {
    std::string example;
    if (diagnostics_->WantsExample(Reason::kBadLine)) {
      example = fmt::format("line {}: {}", line_number_, Shown(error_));
    }
    if (first_error_.empty()) first_error_ = example;
    diagnostics_->Count(Reason::kBadLine, std::move(example));
  }

  /// Forgets texts that only rows already written pointed to.
  void AdvanceIfFull() {
    if (!resolver_.IsFull() || queue_.FirstNumber() < advanced_at_) return;
    queue_.ForgetTexts();
    resolver_.Advance();
    advanced_at_ = queue_.NextNumber();
  }

  void Write(std::unique_ptr<WaitingRow> waiting) {
    std::string* buffer = output_->buffer();
    if (row_count_++ == 0) writer_->AppendHeader(buffer);
    const Row& row = waiting->row;
    if (row.flops) ++priced_count_;
    row.reasons.ForEach([&](Reason reason) { CountReason(reason, row); });
    writer_->AppendRow(row, buffer);
    output_->FlushIfLarge();
    queue_.Recycle(std::move(waiting));
  }

  void CountReason(Reason reason, const Row& row) {
    if (IsOfRanges(reason)) return;
    if (!diagnostics_->WantsExample(reason)) return diagnostics_->CountMany(reason, 1);
    std::string example = ExampleOf(reason, row);
    for (const std::string& known : diagnostics_->ExamplesOf(reason)) {
      if (known == example) example.clear();
    }
    diagnostics_->Count(reason, std::move(example));
  }

  void Finish(const LineSource& lines) {
    if (row_count_ > 0) {
      diagnostics_->Note(
          fmt::format("FLOPs are known for {} of {} kernels", priced_count_, row_count_));
      return;
    }
    if (line_count_ > 0) {
      if (const auto kind = GuessInputKind(lines.head())) {
        throw Error(lines.name(), kind->problem, kind->advice);
      }
      throw Error(lines.name(), fmt::format("holds no kernel record ({})", first_error_),
                  "give it the text that parse writes");
    }
    writer_->AppendHeader(output_->buffer());
    diagnostics_->Note(fmt::format("{} is empty: there are no kernels to show", lines.name()));
  }

  OpResolver resolver_;
  RowQueue queue_;
  RowWriter* writer_;
  Output* output_;
  Diagnostics* diagnostics_;
  int64_t line_number_ = 0;
  int64_t line_count_ = 0;  // Not counting blank lines.
  int64_t row_count_ = 0;
  int64_t priced_count_ = 0;
  int64_t advanced_at_ = 1;  // Number of the first row after the last Advance().
  std::string error_;
  std::string first_error_;
};

}  // namespace

void PrintRows(LineSource* lines, OpChoice op_choice, RowWriter* writer, Output* output,
               Diagnostics* diagnostics) {
  RowPrinter(op_choice, writer, output, diagnostics).ReadAll(lines);
}

}  // namespace oplens::prof
