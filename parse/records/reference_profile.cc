#include "parse/records/reference_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parse/join/inference.h"
#include "parse/model/evidence.h"

namespace oplens::parse {
namespace {

JoinOptions OptionsOfReference() {
  JoinOptions options;
  options.evidence.repetition = false;
  options.for_reference = true;
  return options;
}

}  // namespace

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
