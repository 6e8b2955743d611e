#ifndef OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_
#define OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_

#include <string>

#include "parse/join/joined.h"
#include "parse/model/evidence_kinds.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/records/kernel_records.h"

namespace oplens::parse {

/// The parts of a profile that these kinds need.
constexpr TraceNeeds NeedsOfEvidence(const EvidenceKinds& kinds) {
  return kinds.capture ? TraceNeeds{TracePart::kOwnCaptures} : TraceNeeds();
}

inline constexpr TraceNeeds kReferenceNeeds = {TracePart::kCaptures};

/// Another recording of a program (--reference), which explains kernels of a run's profiles.
class ReferenceProfile {
 public:
  /// `trace`: read with kReferenceNeeds. `path`: its name in messages.
  ReferenceProfile(std::string path, Trace trace);
  ReferenceProfile(const ReferenceProfile&) = delete;
  ReferenceProfile& operator=(const ReferenceProfile&) = delete;

  const KernelRecords& records() const { return records_; }

  /// Notes whether the reference explained a kernel of `profile`.
  void Count(const KernelRecords& profile);
  /// Call after the last profile. Returns "" if any kernel was explained, else a sentence.
  std::string Unused() const;

 private:
  std::string path_;
  Trace trace_;
  Diagnostics diagnostics_;  // Never reported.
  KernelRecords records_;
  bool used_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_
