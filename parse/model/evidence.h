#ifndef OPLENS_PARSE_MODEL_EVIDENCE_H_
#define OPLENS_PARSE_MODEL_EVIDENCE_H_

// Public header: installed, docs/library.md.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens {

/// What says which op a kernel belongs to; docs/correlation.md, "Evidence".
enum class Evidence : uint8_t {
  kNone,        ///< '' in the record; of a kernel with an op: kRange.
  kRange,       ///< The ranges around its launch.
  kCapture,     ///< The ranges around the call that put it into the graph that was launched.
  kRepetition,  ///< Inferred: the same place in another repetition of the step.
  kReference,   ///< Inferred: the same place in another recording of the program.
};

inline constexpr size_t kEvidenceCount = 5;

/// "range", "capture", "repetition", "reference" or "".
std::string_view EvidenceWord(Evidence evidence);

/// Whether no row of the profile itself says it.
constexpr bool IsInferred(Evidence evidence) {
  return evidence == Evidence::kRepetition || evidence == Evidence::kReference;
}

/// How sure an op is that was inferred.
enum class Confidence : uint8_t { kUnknown, kLow, kMedium, kHigh };

/// "high", "medium", "low" or "".
std::string_view ConfidenceWord(Confidence confidence);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_EVIDENCE_H_
