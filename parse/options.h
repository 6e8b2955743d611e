#ifndef OPLENS_PARSE_OPTIONS_H_
#define OPLENS_PARSE_OPTIONS_H_

#include <string>
#include <vector>

#include "parse/join/joined.h"

namespace oplens::parse {

/// What `parse` writes.
enum class Format {
  kDict,       ///< Records as Python literals, one a line.
  kJsonLines,  ///< Records as JSON, one a line.
  kChrome,     ///< One Chrome trace document.
};

/// The command line of `parse`.
struct Options {
  std::string message;              ///< Help or version: print it and do nothing else.
  std::vector<std::string> inputs;  ///< Files and folders, at least one.
  std::vector<std::string> execution_traces;
  std::string reference;  ///< "": none.
  std::string output;     ///< "" for standard output.
  Format format = Format::kDict;
  bool check = false;  ///< Describe the inputs instead of writing records.
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
  JoinOptions join;
};

/// Throws UsageError with the line that helps.
Options ReadOptions(int argc, char** argv);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_OPTIONS_H_
