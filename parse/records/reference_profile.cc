#include "parse/records/reference_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "parse/join/inference.h"
#include "parse/model/evidence.h"

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

JoinOptions OptionsOfReference() {
  JoinOptions options;
  options.evidence.repetition = false;
  options.for_reference = true;
  return options;
}

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

ReferenceProfile::ReferenceProfile(std::string path, Trace trace)
    : path_(std::move(path)),
      trace_(std::move(trace)),
      records_(&trace_, OptionsOfReference(), &diagnostics_) {}

void ReferenceProfile::Count(const KernelRecords& profile) {
  const std::vector<Inferred>& all = profile.joined().inference().all();
  used_ = used_ || std::any_of(all.begin(), all.end(), [](const Inferred& inferred) {
            return inferred.evidence == Evidence::kReference;
          });
}

std::string ReferenceProfile::Unused() const {
  if (used_) return {};
  return fmt::format(
      "--reference {}: explains no kernel: it has none of the places of the kernels without a "
      "known op",
      path_);
}

}  // namespace oplens::parse
