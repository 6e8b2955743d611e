#ifndef OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_
#define OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_

#include <cstddef>
#include <cstdint>

// %-sequences in database names, as in nvprof:
//
//   %p        process id                  %q{NAME}  value of the environment variable NAME
//   %h        name of the host            %%        a percent sign
//
// Also used inside recorded programs: nothing here allocates, throws, or needs the C++ runtime.

namespace oplens::record {

enum class NameProblem {
  kNone,
  kUnknownSequence,  ///< Unknown, or a % at the end.
  kUnclosed,         ///< %q without {NAME}.
  kUnsetVariable,
  kTooLong,
};

struct NameFault {
  NameProblem problem = NameProblem::kNone;
  size_t begin = 0;  ///< Position of the sequence in the pattern, in bytes.
  size_t size = 0;   ///< Of the sequence, as far as it exists.
};

/// Writes the zero-terminated name for process `pid` to `out`, which holds `size` bytes. Returns
/// its length; 0 and an empty name if it does not fit. Unknown sequences are copied, unset
/// variables are empty.
size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size) noexcept;

/// Also sets `fault` to the first bad sequence.
size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size,
                        NameFault* fault) noexcept;

/// Whether ExpandOutputName may have made `name` for process `pid`, if hosts and variables may be
/// any text without a slash.
bool MatchesOutputName(const char* pattern, int32_t pid, const char* name) noexcept;

/// Whether the name depends on the process: the pattern has %p.
bool NamesProcess(const char* pattern) noexcept;

bool HasSequences(const char* pattern) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_
