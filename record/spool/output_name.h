#ifndef OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_
#define OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_

#include <cstddef>
#include <cstdint>

// The %-sequences in the name of a database, as nvprof had them:
//
//   %p        process id                  %q{NAME}  value of the environment variable NAME
//   %h        name of the host            %%        a percent sign
//
// Used by the program `record` and inside recorded programs: nothing here allocates or throws, and
// no C++ runtime library is needed.

namespace oplens::record {

/// What is wrong with a name.
enum class NameProblem {
  kNone,
  kUnknownSequence,  ///< None of the above, or a % at the end.
  kUnclosed,         ///< %q without {NAME}.
  kUnsetVariable,    ///< The environment has no such variable.
  kTooLong,          ///< The name does not fit.
};

struct NameFault {
  NameProblem problem = NameProblem::kNone;
  size_t begin = 0;  ///< Of the sequence in the pattern, in bytes.
  size_t size = 0;   ///< Of the sequence, or of what there is of it.
};

/// Writes the name for process `pid` with a final zero byte to `out`, which holds `size` bytes.
/// Returns its length; 0, with an empty name, if it does not fit. A sequence that is unknown stands
/// for itself, a variable that is not set for nothing.
size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size) noexcept;

/// The same, and says in `fault` which sequence is the first that is wrong.
size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size,
                        NameFault* fault) noexcept;

/// Whether ExpandOutputName may have made `name` for process `pid`: a host and a variable may have
/// been anything but a folder.
bool MatchesOutputName(const char* pattern, int32_t pid, const char* name) noexcept;

/// Whether the name depends on the process: the pattern has %p.
bool NamesProcess(const char* pattern) noexcept;

/// Whether the pattern has any sequence.
bool HasSequences(const char* pattern) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_OUTPUT_NAME_H_
