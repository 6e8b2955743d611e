#ifndef OPLENS_PARSE_MODEL_EVIDENCE_H_
#define OPLENS_PARSE_MODEL_EVIDENCE_H_

// Public header: installed, docs/library.md.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens {

/// What identifies the op of a kernel; docs/correlation.md, "Evidence".
enum class Evidence : uint8_t {
  kNone,        ///< '' in the record; for a kernel that has an op it means kRange.
  kRange,       ///< The ranges around its launch.
  kCapture,     ///< The ranges around the call that captured it into the launched graph.
  kRepetition,  ///< Inferred: the same place in another repetition of the step.
  kReference,   ///< Inferred: the same place in another recording of the program.
};

inline constexpr size_t kEvidenceCount = 5;

/// "range", "capture", "repetition", "reference" or "".
std::string_view EvidenceWord(Evidence evidence);

/// Whether the op is inferred, not stated by any row of the profile.
constexpr bool IsInferred(Evidence evidence) {
  return evidence == Evidence::kRepetition || evidence == Evidence::kReference;
}

/// How certain an inferred op is.
enum class Confidence : uint8_t { kUnknown, kLow, kMedium, kHigh };

/// "high", "medium", "low" or "".
std::string_view ConfidenceWord(Confidence confidence);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_EVIDENCE_H_
