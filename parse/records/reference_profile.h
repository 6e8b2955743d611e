#ifndef OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_
#define OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_

#include <string>
#include <string_view>

#include "parse/join/joined.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/records/kernel_records.h"

namespace oplens::parse {

/// Keeps of `options` the evidence that a list of words names: "range,capture". Throws UsageError
/// for a word that is none, and for a list without range.
void KeepEvidence(std::string_view list, JoinOptions* options);

/// "range,capture,repetition,reference"
std::string_view EvidenceWords();

/// What of a reference is read.
inline constexpr TraceNeeds kReferenceNeeds = {TracePart::kCaptures};

/// Another recording of a program (--reference), which explains kernels of the profiles of a run.
class ReferenceProfile {
 public:
  /// `trace`: read with kReferenceNeeds. `path`: how sentences name it.
  ReferenceProfile(std::string path, Trace trace);
  ReferenceProfile(const ReferenceProfile&) = delete;
  ReferenceProfile& operator=(const ReferenceProfile&) = delete;

  const KernelRecords& records() const { return records_; }

  /// Notes what became of the reference for a profile.
  void Count(const KernelRecords& profile);
  /// After the last profile: "" where some kernel was explained, else a sentence.
  std::string Unused() const;

 private:
  std::string path_;
  Trace trace_;
  Diagnostics diagnostics_;  // Of no profile of the run.
  KernelRecords records_;
  bool used_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_REFERENCE_PROFILE_H_
