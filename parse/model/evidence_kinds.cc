#include "parse/model/evidence_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"

namespace oplens::parse {
namespace {

struct EvidenceSwitch {
  std::string_view word;
  bool EvidenceKinds::*kind;  ///< Null: always on.
};

constexpr EvidenceSwitch kSwitches[] = {
    {"range", nullptr},
    {"capture", &EvidenceKinds::capture},
    {"vocabulary", &EvidenceKinds::vocabulary},
    {"repetition", &EvidenceKinds::repetition},
    {"reference", &EvidenceKinds::reference},
    {"name", &EvidenceKinds::name},
    {"sizes", &EvidenceKinds::sizes},
    {"order", &EvidenceKinds::order},
};

}  // namespace

EvidenceKinds ReadEvidence(std::string_view list) {
  EvidenceKinds kinds;
  if (list.empty()) return kinds;
  std::vector<std::string_view> known;
  for (const EvidenceSwitch& one : kSwitches) known.push_back(one.word);
  const std::vector<std::string_view> words = WordsOf(list);
  for (const std::string_view word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(fmt::format(
          "--evidence: {}", NoSuchName("evidence", word, known, "the kinds of evidence are")));
    }
  }
  for (const EvidenceSwitch& one : kSwitches) {
    const bool has = std::find(words.begin(), words.end(), one.word) != words.end();
    if (one.kind != nullptr) kinds.*one.kind = has;
    if (one.kind == nullptr && !has) {
      throw UsageError("--evidence: the ranges around a launch always count: add range");
    }
  }
  return kinds;
}

}  // namespace oplens::parse
