#ifndef OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_
#define OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_

#include <cstddef>
#include <string>

#include "parse/model/reason.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::prof {

/// "file-cut 1; bad-event 3": what was not read of files, as reasons with counts; "" for nothing.
std::string LostText(const Diagnostics& losses);

/// Adds to the facts of a summary what was not read of its inputs (`lost`), and how many were left
/// out (`left_out`); nothing if all were read whole.
void KeepLosses(const Diagnostics& losses, size_t left_out, SummaryFile* summary);

/// Counts what KeepLosses() wrote, and adds notes for the file at `path`. Returns how many inputs
/// were left out. Ignores other facts.
size_t AddKeptLosses(const SummaryFile& summary, const std::string& path, Diagnostics* losses);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_
