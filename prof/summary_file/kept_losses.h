#ifndef OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_
#define OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_

#include <cstddef>
#include <string>

#include "parse/model/reason.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::prof {

/// "file-cut 1; bad-event 3": what of files was not read, as words of reasons with their counts; ""
/// for nothing.
std::string LostText(const Diagnostics& losses);

/// Writes into the facts of a summary what of its inputs was not read (`lost`), and how many were
/// left out (`left_out`): nothing where all of them were read whole.
void KeepLosses(const Diagnostics& losses, size_t left_out, SummaryFile* summary);

/// Counts what KeepLosses() wrote, and notes it of the file at `path`. Answers how many inputs were
/// left out. What is no such fact is passed over.
size_t AddKeptLosses(const SummaryFile& summary, const std::string& path, Diagnostics* losses);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_KEPT_LOSSES_H_
