#ifndef OPLENS_REPORT_OPTIONS_H_
#define OPLENS_REPORT_OPTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "prof/input_options.h"
#include "prof/run/run.h"

namespace oplens::report {

/// The parsed command line.
struct Options : prof::InputOptions {
  std::string message;  ///< For -h and --version: print this and exit.
  std::string output;
  std::string title;  ///< "": made from the names of the inputs.
  size_t limit_bytes = 0;
  bool host = true;
  bool keep_paths = false;
  bool open = false;
  std::string diff_base;  ///< --diff: compare this run with the inputs; "": no comparison.
  prof::RunOptions run;   ///< Which part of each run to analyse.
};

Options ParseOptions(int argc, const char* const* argv);

/// Parses "10MB", "1.5 MB", "500k" or bytes; k, M and G are powers of 1000. Throws UsageError.
size_t ReadSize(std::string_view text);

/// The default of -o: the input's name with ".html" appended, in the working folder. Throws
/// UsageError if the input has no name.
std::string DefaultOutput(const std::string& input);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_OPTIONS_H_
