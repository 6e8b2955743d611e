#ifndef OPLENS_RECORD_MESSAGES_H_
#define OPLENS_RECORD_MESSAGES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/conversion.h"

namespace oplens::record {

/// Why CUPTI recorded nothing in a process with CudaState::kFailed, and what to do: one line
/// without a line feed.
std::string CuptiAdvice(const ProcessSummary& process);

/// Facts about a recording that explain its databases.
struct RecordingFacts {
  bool requested_cuda = true;       ///< --trace includes cuda.
  bool has_driver = true;           ///< The NVIDIA driver can be loaded on this machine.
  bool program_seen = true;         ///< The library was loaded into the program itself.
  bool library_failed = false;      ///< It was loaded somewhere but could not store anything.
  int library_error = 0;            ///< The errno of that; 0: unknown.
  bool out_of_descriptors = false;  ///< The program was seen with no descriptor left.
  bool other_user = false;          ///< The program was seen running as another user.
  bool requested_children = false;  ///< --profile-child-processes
  int64_t skipped_processes = 0;    ///< Children that were not to be recorded.
  std::filesystem::path directory;  ///< Files in it are shown by relative path.
};

struct SummaryLine {
  std::string text;
  bool fault = false;  ///< Something requested is missing, or may be.
};

/// One line per database, then the lines about problems.
std::vector<SummaryLine> Summary(const std::vector<ProcessSummary>& processes,
                                 const RecordingFacts& facts);

/// `path` relative to `directory` if it is below it.
std::string ShortName(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_MESSAGES_H_
