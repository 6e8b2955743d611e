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

constexpr Evidence kAll[] = {Evidence::kRange, Evidence::kCapture, Evidence::kRepetition,
                             Evidence::kReference};

JoinOptions OptionsOfReference() {
  JoinOptions options;
  options.repetition = false;
  options.for_reference = true;
  return options;
}

}  // namespace

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
    throw UsageError("--evidence: the ranges around a launch always count: add range");
  }
  options->capture = has(Evidence::kCapture);
  options->repetition = has(Evidence::kRepetition);
  options->use_reference = has(Evidence::kReference);
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
