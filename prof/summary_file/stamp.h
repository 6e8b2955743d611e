#ifndef OPLENS_PROF_SUMMARY_FILE_STAMP_H_
#define OPLENS_PROF_SUMMARY_FILE_STAMP_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "prof/summary_file/summary_file.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// Detects whether a file was written since: "SIZE TIME" in bytes and ns; "" if there is no file.
std::string StampOf(const std::string& path);

/// A hash as 16 hexadecimal digits; not collision-resistant against attackers.
std::string HashOf(std::string_view text);

struct SummaryStamp {
  std::string input;      ///< StampOf() the input.
  std::string made_with;  ///< HashOf() the options that change the results.
};

/// Adds the stamp to the facts of a summary, as `input` and `made_with`.
void Stamp(const SummaryStamp& stamp, SummaryFile* summary);

/// The options that changed the results, which must be equal for all ranks of a run: `made_with`
/// ("" for a baseline) and `selection`.
std::pair<std::string, std::string> SelectionOf(const SummaryFile& summary);

/// Whether the file at `path` is a summary by this version (`writer`) with the same stamp and all
/// of `plans`. False if it cannot be read.
bool IsUpToDate(const std::string& path, const SummaryStamp& stamp, std::string_view writer,
                std::span<const ViewPlan> plans);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_STAMP_H_
