#include "prof/input/line_records.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "base/shown_text.h"
#include "parse/source/file_kind.h"

namespace oplens::prof {
namespace {

bool IsLineRecordsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

Error EmptyFile(const std::string& path) {
  return Error(path, "is empty: there are no kernels to show",
               "parse writes such a file for a profile without kernels; was the disk full?");
}

RecordSource::Step LineRecords::Next(WaitingRow* row, Diagnostics* diagnostics) {
  std::string_view line;
  do {
    if (!lines_.Next(&line)) return Finish(diagnostics);
    ++line_number_;
  } while (IsLineRecordsBlank(line));
  ++line_count_;
  row->line.assign(line);
  if (lines_.cut()) {
    error_ = fmt::format("longer than {} MB", LineSource::kMaxLineBytes >> 20);
    return CountBadLine(diagnostics);
  }
  if (!row->reader.Read(row->line, &row->record, &error_)) return CountBadLine(diagnostics);
  ++record_count_;
  return Step::kRecord;
}

RecordSource::Step LineRecords::CountBadLine(Diagnostics* diagnostics) {
  std::string example;
  if (diagnostics->KeepsExample(Reason::kBadLine)) {
    example = fmt::format("line {}: {}", line_number_, ShownText(error_));
  }
  if (first_error_.empty()) first_error_ = example;
  diagnostics->Count(Reason::kBadLine, std::move(example));
  return Step::kBad;
}

RecordSource::Step LineRecords::Finish(Diagnostics* diagnostics) {
  const std::string damage = lines_.damage();
  if (record_count_ == 0 && line_count_ > 0) {
    const parse::FileKind kind = parse::KindOfBytes(lines_.head());
    const parse::ForeignKind foreign = parse::ForeignWords(kind);
    const bool records = kind == parse::FileKind::kRecords || kind == parse::FileKind::kJsonRecords;
    if (!records && !foreign.problem.empty()) {
      throw Error(lines_.name(), foreign.problem, foreign.advice);
    }
    throw Error(lines_.name(), fmt::format("holds no kernel record ({})", first_error_),
                "give a profile, or the text that parse writes");
  }
  if (record_count_ == 0 && !damage.empty()) {
    throw Error(lines_.name(), fmt::format("cannot be unpacked: {}", damage),
                "copy the file again");
  }
  if (line_count_ == 0) {
    if (lines_.is_file()) throw EmptyFile(lines_.name());
    diagnostics->Note(fmt::format("{} is empty: there are no kernels to show", lines_.name()));
  }
  if (!damage.empty()) {
    diagnostics->CountFile(Reason::kFileCut, fmt::format("{}: {} behind line {}", lines_.name(),
                                                         damage, line_number_));
  }
  if (const int64_t bytes = lines_.trailing_bytes(); bytes > 0) {
    diagnostics->CountFile(Reason::kTrailingData, parse::TrailingSentence(lines_.name(), bytes));
  }
  return Step::kEnd;
}

}  // namespace oplens::prof
