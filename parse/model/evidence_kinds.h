#ifndef OPLENS_PARSE_MODEL_EVIDENCE_KINDS_H_
#define OPLENS_PARSE_MODEL_EVIDENCE_KINDS_H_

#include <string_view>

namespace oplens {

/// What may tell the op, sizes and layer of a kernel besides the ranges around its launch.
struct EvidenceKinds {
  bool capture = true;
  bool vocabulary = true;
  bool repetition = true;
  bool reference = true;
  bool name = true;
  bool sizes = true;  ///< Sizes from the launch.
  bool order = true;  ///< Layers from the sequence of kernels.
};

namespace parse {

/// The kinds of evidence in a list of words, "range,capture"; all for an empty list. Throws
/// UsageError for an unknown word and for a list without range.
EvidenceKinds ReadEvidence(std::string_view list);

}  // namespace parse
}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_EVIDENCE_KINDS_H_
