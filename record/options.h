#ifndef OPLENS_RECORD_OPTIONS_H_
#define OPLENS_RECORD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace oplens::record {

/// The command line of `record`.
struct Options {
  std::string message;     ///< Help or version: print it and do nothing else.
  std::string output;      ///< Name of the database, with %-sequences (record/spool/output_name.h).
  std::string recover;     ///< Not "": finish this interrupted recording, and do nothing else.
  bool force = false;      ///< Replace what is there.
  bool from_start = true;  ///< Record before cudaProfilerStart too.
  bool children = false;   ///< Record child processes too.
  bool quiet = false;      ///< Print only what failed or is missing.
  bool strict = false;     ///< Exit code 3 when something is missing.
  bool reference = false;  ///< Only what captures of graphs tell (--reference).
  bool keep_arguments = false;       ///< Write the program's arguments down too.
  std::vector<std::string> trace;    ///< Words of --trace, each once, in the order of the help.
  int64_t timeout_s = 0;             ///< End the program after so many seconds; 0: never.
  std::vector<std::string> command;  ///< The program and its arguments.
};

/// Options of `record` end at "--" or at the first word that is none: what follows is the program.
/// Throws UsageError with the line that helps.
Options ReadOptions(int argc, char** argv);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_OPTIONS_H_
