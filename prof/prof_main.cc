#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "base/error.h"
#include "base/output.h"
#include "parse/model/reason.h"
#include "prof/line_source.h"
#include "prof/options.h"
#include "prof/print_rows.h"

namespace oplens::prof {
namespace {

int Run(const Options& options) {
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
  if (!options.quiet) std::fputs(diagnostics.Render("prof").c_str(), stderr);
  return kExitOk;
}

int Complain(const char* message, ExitCode code) {
  std::fprintf(stderr, "prof: %s\n", message);
  return code;
}

}  // namespace
}  // namespace oplens::prof

int main(int argc, char** argv) {
  using oplens::kExitCannotRead;
  using oplens::kExitOk;
  using oplens::kExitUsage;
  namespace prof = oplens::prof;
  std::signal(SIGPIPE, SIG_IGN);  // A closed pipe comes as ClosedPipe.
  try {
    return prof::Run(prof::ParseOptions(argc, argv));
  } catch (const oplens::ClosedPipe&) {
    return kExitOk;
  } catch (const oplens::UsageError& error) {
    return prof::Complain(error.what(), kExitUsage);
  } catch (const std::exception& error) {
    return prof::Complain(error.what(), kExitCannotRead);
  }
}
