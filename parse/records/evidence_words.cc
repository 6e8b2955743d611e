#include "parse/records/evidence_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "parse/model/evidence.h"

namespace oplens::parse {
namespace {

constexpr Evidence kAll[] = {Evidence::kRange, Evidence::kCapture, Evidence::kRepetition,
                             Evidence::kReference};

}  // namespace

std::string_view EvidenceWords() { return "range,capture,repetition,reference"; }

void KeepEvidence(std::string_view list, JoinOptions* options) {
  std::vector<std::string_view> known;
  for (const Evidence evidence : kAll) known.push_back(EvidenceWord(evidence));
  const std::vector<std::string_view> words = WordsOf(list);
  for (const std::string_view word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(fmt::format(
          "--evidence: {}", NoSuchName("evidence", word, known, "the kinds of evidence are")));
    }
  }
  const auto has = [&](Evidence evidence) {
    return std::find(words.begin(), words.end(), EvidenceWord(evidence)) != words.end();
  };
  if (!has(Evidence::kRange)) {
    throw UsageError(
        "--evidence: what the ranges around a launch say is never left out: add range");
  }
  options->capture = has(Evidence::kCapture);
  options->repetition = has(Evidence::kRepetition);
  options->use_reference = has(Evidence::kReference);
}

}  // namespace oplens::parse
