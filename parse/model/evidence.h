#ifndef OPLENS_PARSE_MODEL_EVIDENCE_H_
#define OPLENS_PARSE_MODEL_EVIDENCE_H_

// Public header: installed, docs/library.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens {

/// What identifies the op of a kernel; docs/correlation.md, "Evidence".
enum class Evidence : uint8_t {
  kNone,        ///< '' in the record; for a kernel that has an op it means kRange.
  kRange,       ///< The ranges around its launch.
  kCapture,     ///< The ranges around the call that captured it into the launched graph; inferred
                ///< (with a confidence) if names and order tell which call that is.
  kRepetition,  ///< Inferred: the same place in another repetition of the step.
  kReference,   ///< Inferred: the same place in another recording of the program.
  kVocabulary,  ///< A range around its launch that is an op in all but form (TensorRT's layers).
  kName,        ///< Inferred: the kernel's own name, which tells the kind of op and nothing else.
};

inline constexpr size_t kEvidenceCount = 7;

/// All but kNone, in the order in which they are listed.
inline constexpr std::array<Evidence, kEvidenceCount - 1> kEvidences = {
    Evidence::kRange,      Evidence::kCapture,   Evidence::kVocabulary,
    Evidence::kRepetition, Evidence::kReference, Evidence::kName};

/// "range", "capture", "repetition", "reference", "vocabulary", "name" or "".
std::string_view EvidenceWord(Evidence evidence);

/// How certain an inferred op is; kUnknown: it is recorded, or there is none.
enum class Confidence : uint8_t { kUnknown, kLow, kMedium, kHigh };

/// Whether all ops of this evidence are inferred, not stated by any row of the profile.
constexpr bool IsInferred(Evidence evidence) {
  return evidence == Evidence::kRepetition || evidence == Evidence::kReference ||
         evidence == Evidence::kName;
}

/// Whether an op is inferred: those of captures are if they have a confidence.
constexpr bool IsInferred(Evidence evidence, Confidence confidence) {
  return IsInferred(evidence) ||
         (evidence == Evidence::kCapture && confidence != Confidence::kUnknown);
}

/// "high", "medium", "low" or "".
std::string_view ConfidenceWord(Confidence confidence);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_EVIDENCE_H_
