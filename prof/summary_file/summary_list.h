#ifndef OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_
#define OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_

#include <string>
#include <vector>

namespace oplens::prof {

struct SummaryInput {
  std::string path;
  std::string name;  ///< As parse::ProfileInput::name of the input that it summarises.
  bool from_folder = false;
};

/// The summaries that the arguments name: files, and the files with suffix kSummaryEnding in
/// folders without profiles, in natural order. Empty if there are none. Throws Error if only some
/// arguments are summaries.
std::vector<SummaryInput> ListSummaries(const std::vector<std::string>& arguments);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_
