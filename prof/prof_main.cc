// prof: profiles or records -> one priced row a kernel.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "parse/model/reason.h"
#include "prof/input/profile_records.h"
#include "prof/options.h"
#include "prof/print_rows.h"
#include "prof/table/sqlite_writer.h"
#include "prof/views/column_check.h"
#include "prof/views/copy_row.h"
#include "prof/views/summary.h"

namespace oplens::prof {
namespace {

RowOptions RowOptionsOf(const Options& options) {
  return {options.op_choice,
          options.filter.get(),
          options.steps.get(),
          options.gpu ? &*options.gpu : nullptr,
          options.rules ? &*options.rules : nullptr,
          ProductPeakOf};
}

/// Rows of the copies of all profiles, one file after the other. Answers their number.
int64_t PrintCopies(Inputs* inputs, RowWriter* writer, Output* output, Diagnostics* diagnostics) {
  PricedKernel row;
  writer->AppendHeader(output->buffer());
  while (const Trace* trace = inputs->NextTrace(diagnostics)) {
    for (const CopyRow& copy : CopiesOf(*trace)) {
      ++row.index;
      row.copy = &copy;
      writer->AppendRow(row, output->buffer());
      output->FlushIfLarge();
    }
  }
  if (row.index == 0) diagnostics->Note("there are no copies and no fills to show");
  return row.index;
}

const char* TableName(const Options& options) {
  if (options.copies) return "copies";
  return options.summary != nullptr ? "summary" : "kernels";
}

/// One row a group of kernels. Answers the number of kernels.
int64_t PrintSummary(RecordSource* records, const Options& options, RowWriter* writer,
                     Output* output, Diagnostics* diagnostics) {
  Summary summary(options.summary.get());
  const int64_t kernels = PrintRows(records, RowOptionsOf(options), &summary, output, diagnostics);
  summary.Write(options.order, options.top, writer, output);
  for (std::string& note : summary.Notes()) diagnostics->Note(std::move(note));
  return kernels;
}

/// How many kernels have each column. Answers the number of kernels.
int64_t PrintCheck(RecordSource* records, const Options& options, Output* output,
                   Diagnostics* diagnostics) {
  ColumnCheck check(options.columns);
  const int64_t kernels = PrintRows(records, RowOptionsOf(options), &check, output, diagnostics);
  output->Write(check.Render());
  return kernels;
}

std::unique_ptr<SqliteWriter> MakeSqliteWriter(const Options& options) {
  if (options.sqlite.empty()) return nullptr;
  std::string inputs;
  for (const std::string& input : options.inputs) {
    inputs += inputs.empty() ? input : "\n" + input;
  }
  return std::make_unique<SqliteWriter>(
      options.sqlite, TableName(options), options.columns,
      std::vector<std::pair<std::string, std::string>>{
          {"program", "oplens"}, {"version", OPLENS_VERSION}, {"inputs", inputs}});
}

int Run(const Options& options) {
  if (!options.message.empty()) {
    Output output("");
    output.Write(options.message);
    output.Commit();
    return kExitOk;
  }
  Inputs inputs(options.inputs, options.execution_traces);
  std::vector<std::string> read = inputs.paths();
  read.insert(read.end(), options.execution_traces.begin(), options.execution_traces.end());
  for (const std::string& path : read) {
    if (options.sqlite.empty()) {
      RefuseSameFile(path, options.output);
    } else {
      RefuseSameFile(path, options.sqlite, "--sqlite");
    }
  }
  inputs.RefuseUnreadable();
  if (options.copies) inputs.RefuseRecords();
  Diagnostics diagnostics;
  Output output(options.output, PackingOf(options.output));
  const std::unique_ptr<SqliteWriter> database = MakeSqliteWriter(options);
  RowWriter* const writer = database != nullptr ? database.get() : options.writer.get();
  int64_t rows = 0;
  if (options.copies) {
    rows = PrintCopies(&inputs, writer, &output, &diagnostics);
  } else if (options.check) {
    rows = PrintCheck(&inputs, options, &output, &diagnostics);
  } else if (options.summary != nullptr) {
    rows = PrintSummary(&inputs, options, writer, &output, &diagnostics);
  } else {
    rows = PrintRows(&inputs, RowOptionsOf(options), writer, &output, &diagnostics);
  }
  if (database != nullptr) {
    database->Commit();
  } else {
    output.Commit();
  }
  const std::vector<std::string> unused = inputs.UnusedExecutionTraces();
  for (const std::string& sentence : unused) diagnostics.Note(sentence);
  if (!options.quiet) PrintError(diagnostics.Render("prof"));
  const bool failure =
      rows == 0 || diagnostics.Damaged() || inputs.left_out() > 0 || !unused.empty();
  return options.strict && failure ? kExitStrict : kExitOk;
}

}  // namespace
}  // namespace oplens::prof

int main(int argc, char** argv) {
  return oplens::RunProgram(
      "prof", [&] { return oplens::prof::Run(oplens::prof::ParseOptions(argc, argv)); });
}
