#ifndef OPLENS_RECORD_OPTIONS_H_
#define OPLENS_RECORD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace oplens::record {

struct Options {
  std::string message;          ///< Help or version: print it and exit.
  std::string output;           ///< Database name, with %-sequences (record/spool/output_name.h).
  std::string recover;          ///< If not "": only finish this interrupted recording.
  bool force = false;           ///< Replace existing files.
  bool from_start = true;       ///< Also record before cudaProfilerStart.
  bool children = false;        ///< Also record child processes.
  bool quiet = false;           ///< Print only errors and what is missing.
  bool strict = false;          ///< Exit code 3 if something is missing.
  bool reference = false;       ///< Record only captures of graphs (--reference).
  bool keep_arguments = false;  ///< Also store the program's arguments.
  std::vector<std::string> trace;  ///< Distinct words of --trace, in the order of the help.
  int64_t timeout_s = 0;           ///< Seconds until the program is ended; 0: never.
  std::vector<std::string> command;
};

/// Options end at "--" or at the first non-option: the rest is the program. Throws UsageError with
/// advice.
Options ReadOptions(int argc, char** argv);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_OPTIONS_H_
