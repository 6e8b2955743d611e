// parse: a profile database -> one record a kernel.

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "parse/correlate.h"
#include "parse/options.h"
#include "parse/trace_reader.h"

namespace oplens::parse {
namespace {

void WriteRecords(const Correlation& kernels, bool json_lines, Output* output) {
  const auto append = json_lines ? AppendJsonLine : AppendDictLine;
  KernelRecord record;
  for (size_t i = 0; i < kernels.kernel_count(); ++i) {
    kernels.RecordOf(i, &record);
    append(record, output->buffer());
    output->FlushIfLarge();
  }
}

std::string Summary(const std::string& path, const Trace& trace) {
  const std::string version =
      trace.schema_version > 0 ? std::to_string(trace.schema_version) : "of unknown version";
  return fmt::format("parse: {}: {} schema {}: {} kernels, {} ranges\n", path, trace.family,
                     version, trace.kernels.size(), trace.ranges.size());
}

int Run(const Options& options) {
  if (!options.message.empty()) {
    Output output("");
    output.Write(options.message);
    output.Commit();
    return kExitOk;
  }
  RefuseSameFile(options.database, options.output);
  Diagnostics diagnostics;
  Trace trace = OpenTrace(options.database, &diagnostics);
  const Correlation kernels(&trace, options.correlate, &diagnostics);
  Output output(options.output);
  WriteRecords(kernels, options.json_lines, &output);
  output.Commit();
  if (!options.quiet) {
    PrintError(Summary(options.database, trace));
    PrintError(diagnostics.Render("parse"));
  }
  const bool failure = diagnostics.Damaged() || kernels.kernel_count() == 0;
  return options.strict && failure ? kExitStrict : kExitOk;
}

}  // namespace
}  // namespace oplens::parse

int main(int argc, char** argv) {
  return oplens::RunProgram(
      "parse", [&] { return oplens::parse::Run(oplens::parse::ReadOptions(argc, argv)); });
}
