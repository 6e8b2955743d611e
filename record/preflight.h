#ifndef OPLENS_RECORD_PREFLIGHT_H_
#define OPLENS_RECORD_PREFLIGHT_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "record/launcher.h"
#include "record/options.h"

// Checks before the program starts.

namespace oplens::record {

/// The path of liboplens_record.so, beside this program or in the installation. Throws Error.
std::filesystem::path FindLibrary();

/// Throws UsageError if another tool would be loaded into the program instead of ours.
void RefuseOtherTools();

/// `pattern` as an absolute path. Escapes percent signs of the working directory.
std::string AbsolutePattern(const std::string& pattern);

/// The absolute database path for process `process_id`. Throws UsageError if it cannot be written,
/// or exists and `force` is false.
std::filesystem::path CheckedOutput(const std::string& absolute_pattern, int32_t process_id,
                                    bool force);

/// CLOCK_REALTIME - CLOCK_MONOTONIC in ns.
int64_t ClockOffset();

/// The value of spool::kOptionsVariable.
std::string LibraryOptions(const Options& options);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PREFLIGHT_H_
