#ifndef OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_
#define OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_

#include <string>
#include <vector>

namespace oplens::prof {

/// A summary among the inputs.
struct SummaryInput {
  std::string path;
  std::string name;  ///< As parse::ProfileInput::name of the input that it is of, beside it.
  bool from_folder = false;
};

/// The summaries that the arguments name: files, and of folders that hold no profile those whose
/// names end with kSummaryEnding, in natural order. Empty where none is one. Throws Error where
/// only some are.
std::vector<SummaryInput> ListSummaries(const std::vector<std::string>& arguments);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_SUMMARY_LIST_H_
