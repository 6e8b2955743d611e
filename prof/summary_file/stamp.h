#ifndef OPLENS_PROF_SUMMARY_FILE_STAMP_H_
#define OPLENS_PROF_SUMMARY_FILE_STAMP_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "prof/summary_file/summary_file.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// What tells whether a file was written since: "SIZE TIME" in bytes and ns. "" where it is not
/// there.
std::string StampOf(const std::string& path);

/// 16 hexadecimal digits that tell a text from others; not against those who want it to be the
/// same.
std::string HashOf(std::string_view text);

/// What a summary of one input was made of.
struct SummaryStamp {
  std::string input;      ///< StampOf() the input.
  std::string made_with;  ///< HashOf() the options that change what is found.
};

/// Writes it into the facts of a summary, as `input` and `made_with`.
void Stamp(const SummaryStamp& stamp, SummaryFile* summary);

/// What changed what was found, which must be the same of all ranks of a run: `made_with` ("" of a
/// baseline) and `selection`.
std::pair<std::string, std::string> SelectionOf(const SummaryFile& summary);

/// Whether the file at `path` is a summary by this version (`writer`) of the same, which holds all
/// of `plans`. False where it cannot be read.
bool IsUpToDate(const std::string& path, const SummaryStamp& stamp, std::string_view writer,
                std::span<const ViewPlan> plans);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_STAMP_H_
