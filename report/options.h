#ifndef OPLENS_REPORT_OPTIONS_H_
#define OPLENS_REPORT_OPTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "prof/input_options.h"
#include "prof/run/run.h"

namespace oplens::report {

/// The command line, understood.
struct Options : prof::InputOptions {
  std::string message;  ///< Of -h and --version: printed, and nothing else is done.
  std::string output;   ///< "-": standard output.
  std::string title;    ///< "": the names of the inputs.
  size_t limit_bytes = 0;
  bool host = true;
  bool keep_paths = false;
  bool open = false;
  std::string
      diff_base;  ///< --diff: the page is of this run and the inputs, compared; "": of these.
  prof::RunOptions run;  ///< What of each run is looked at.
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);

/// Reads "10MB", "1.5 MB", "500k" or bytes; k, M and G are powers of 1000. Throws UsageError.
size_t ReadSize(std::string_view text);

/// Where the page of an input goes unless -o says it: its name with ".html" behind it, in the
/// working folder. Throws UsageError where it has no name.
std::string DefaultOutput(const std::string& input);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_OPTIONS_H_
