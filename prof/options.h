#ifndef OPLENS_PROF_OPTIONS_H_
#define OPLENS_PROF_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/rules.h"
#include "prof/op_resolver.h"
#include "prof/writer.h"

namespace oplens::prof {

/// The command line, understood.
struct Options {
  std::vector<std::string> inputs;  ///< Files and folders; none: standard input.
  std::string output;               ///< "" or "-": standard output.
  std::string sqlite;               ///< The database to write; "" for none.
  bool copies = false;              ///< Rows are copies and fills, not kernels.
  Columns columns;
  std::unique_ptr<RowWriter> writer;  ///< Null with sqlite.
  OpChoice op_choice = OpChoice::kInner;
  std::optional<ops::Rules> rules;  ///< Of the user, where given.
  bool quiet = false;
  std::string message;  ///< Set by -h and --version: print it, do nothing else.
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_OPTIONS_H_
