// prof: records -> one priced row a kernel.

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "parse/model/reason.h"
#include "prof/line_source.h"
#include "prof/options.h"
#include "prof/print_rows.h"

namespace oplens::prof {
namespace {

int Run(const Options& options) {
  RefuseSameFile(options.input, options.output);
  Output output(options.output);
  if (!options.message.empty()) {
    output.Write(options.message);
    output.Commit();
    return kExitOk;
  }
  LineSource lines(options.input);
  Diagnostics diagnostics;
  PrintRows(&lines, options.op_choice, options.writer.get(), &output, &diagnostics);
  output.Commit();
  if (!options.quiet) PrintError(diagnostics.Render("prof"));
  return kExitOk;
}

}  // namespace
}  // namespace oplens::prof

int main(int argc, char** argv) {
  return oplens::RunProgram(
      "prof", [&] { return oplens::prof::Run(oplens::prof::ParseOptions(argc, argv)); });
}
