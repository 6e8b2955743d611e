#ifndef OPLENS_PARSE_OPTIONS_H_
#define OPLENS_PARSE_OPTIONS_H_

#include <string>

#include "parse/correlate.h"

namespace oplens::parse {

/// The command line of `parse`.
struct Options {
  std::string message;  ///< Help or version: print it and do nothing else.
  std::string database;
  std::string output;  ///< "" for standard output.
  bool json_lines = false;
  bool strict = false;
  bool quiet = false;
  CorrelateOptions correlate;
};

/// Throws UsageError with the line that helps.
Options ReadOptions(int argc, char** argv);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_OPTIONS_H_
