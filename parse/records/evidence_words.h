#ifndef OPLENS_PARSE_RECORDS_EVIDENCE_WORDS_H_
#define OPLENS_PARSE_RECORDS_EVIDENCE_WORDS_H_

#include <string_view>

#include "parse/join/joined.h"

namespace oplens::parse {

/// Keeps of `options` the evidence that a list of words names: "range,capture". Throws UsageError
/// for a word that is none, and for a list without range.
void KeepEvidence(std::string_view list, JoinOptions* options);

/// "range,capture,repetition,reference"
std::string_view EvidenceWords();

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_EVIDENCE_WORDS_H_
