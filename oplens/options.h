#ifndef OPLENS_OPLENS_OPTIONS_H_
#define OPLENS_OPLENS_OPTIONS_H_

#include <string>

#include "prof/input_options.h"
#include "prof/run/run.h"

namespace oplens::screen {

/// The command line of the screen, understood.
struct Options : prof::InputOptions {
  std::string message;   ///< Of -h and --version: printed, and nothing else is done.
  prof::RunOptions run;  ///< What of each run is looked at.
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_OPTIONS_H_
