#ifndef OPLENS_RECORD_PREFLIGHT_H_
#define OPLENS_RECORD_PREFLIGHT_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "record/launcher.h"
#include "record/options.h"

// What is checked and found out before a program starts.

namespace oplens::record {

/// liboplens_record.so, beside this program or where both are installed. Throws Error.
std::filesystem::path FindLibrary();

/// Throws UsageError where another tool is to be loaded into the program in the place of ours.
void RefuseOtherTools();

/// `pattern` seen from the root of the file system. What the path of the working directory has of
/// percent signs stands for itself.
std::string AbsolutePattern(const std::string& pattern);

/// The database of process `process_id`, absolute. Throws UsageError when it cannot be written
/// there, or is there already without `force`.
std::filesystem::path CheckedOutput(const std::string& absolute_pattern, int32_t process_id,
                                    bool force);

/// Nanoseconds from CLOCK_MONOTONIC to CLOCK_REALTIME.
int64_t ClockOffset();

/// The words of spool::kOptionsVariable.
std::string LibraryOptions(const Options& options);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PREFLIGHT_H_
