#include "prof/views/recording/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/append_format.h"
#include "base/ratio.h"
#include "base/saturating.h"
#include "ops/kernels/communication.h"
#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

bool HasLaunch(const PricedKernel& row) { return !row.record->reasons.LacksLaunch(); }

bool HasRange(const PricedKernel& row) {
  const KernelRecord& record = *row.record;
  // An inferred op's markers are another kernel's.
  const bool own = !IsInferred(record.evidence, record.confidence);
  return (own && !record.markers.empty()) || !record.seq_markers.empty() || !record.range.empty() ||
         (own && !record.layer.empty()) || !record.repr_markers.empty();
}

/// Whether the kernel does no op's work: NCCL's own records say what it moves.
bool Communicates(const PricedKernel& row) {
  return row.facts != nullptr && !row.facts->name.empty()
             ? row.facts->communicates()
             : ops::IsCommunicationKernel(row.record->short_name);
}

/// A reason for an unanswered question that the user can remedy.
struct GapKind {
  std::string_view raises;  ///< Shares that its remedy raises.
  bool (*applies)(const PricedKernel& row);
  MissingFact lack;  ///< What to record.
};

// The first that applies counts: its remedy often resolves the later ones too.
constexpr GapKind kGaps[] = {
    {"op, shapes, FLOPs",
     [](const PricedKernel& row) {
       return row.record->reasons.Has(Reason::kGraphKernel) && !HasOwnOp(row);
     },
     MissingFact::kGraphKernels},
    {"launch, range, op", [](const PricedKernel& row) { return !HasLaunch(row); },
     MissingFact::kLaunches},
    {"launch, range, op", [](const PricedKernel& row) { return !HasLaunch(row); },
     MissingFact::kEarlyLaunches},
    {"range, op", [](const PricedKernel& row) { return !HasRange(row); }, MissingFact::kRanges},
    {"shapes, FLOPs, bytes",
     [](const PricedKernel& row) { return row.record->reasons.Has(Reason::kCompiledKernel); },
     MissingFact::kCompiledOps},
    {"op, shapes, FLOPs, bytes", [](const PricedKernel& row) { return !HasOwnOp(row); },
     MissingFact::kOps},
    {"shapes, FLOPs, bytes",
     [](const PricedKernel& row) {
       return !row.has_shapes && row.price == nullptr && !Communicates(row);
     },
     MissingFact::kArguments},
    {"bytes",
     [](const PricedKernel& row) {
       return row.price != nullptr && !row.price->bytes_known && !row.has_all_types;
     },
     MissingFact::kDTypes},
};

constexpr size_t kGapOfNoLaunch = 1;
constexpr size_t kGapOfEarlyLaunch = 2;
static_assert(kGaps[kGapOfNoLaunch].lack == MissingFact::kLaunches);
static_assert(kGaps[kGapOfEarlyLaunch].lack == MissingFact::kEarlyLaunches);

}  // namespace

bool Coverage::Busy::Add(int64_t start, int64_t end) {
  if (!any || start > end_ns) {
    if (any) closed_ns = Total();
    any = true;
    start_ns = start;
    end_ns = end;
    return true;
  }
  end_ns = std::max(end_ns, end);
  return start >= start_ns;
}

int64_t Coverage::Busy::Total() const {
  return SaturatingSum(closed_ns, SaturatingDifference(end_ns, start_ns));
}

Coverage::Busy* Coverage::BusyOf(const KernelRecord& record) {
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (last_busy_ == nullptr || last_rank_ != rank || last_device_ != record.device_id) {
    last_rank_ = rank;
    last_device_ = record.device_id;
    last_busy_ = &busy_[{last_rank_, last_device_}];
  }
  return last_busy_;
}

void Coverage::AddGaps(const PricedKernel& row, Family family) {
  static_assert(std::size(kGaps) == kGapCount);
  // The call was recorded, without its number: nothing more can be.
  if (row.record->reasons.Has(Reason::kUnnumberedLaunch)) return;
  for (size_t i = 0; i < kGapCount; ++i) {
    if (!kGaps[i].applies(row)) continue;
    // Kernels come in order of start: launches of those before the first launched kernel may
    // precede the recording.
    if (i == kGapOfNoLaunch && !launched_) i = kGapOfEarlyLaunch;
    gap_ns_[static_cast<size_t>(family)][i] += row.record->duration_ns;
    return;
  }
}

void Coverage::Add(const PricedKernel& row, Family family) {
  ++kernel_count_;
  const KernelRecord& record = *row.record;
  if (!record.timed()) return;
  const int64_t duration = record.duration_ns;
  kernel_ns_ += duration;
  if (!row.op.empty()) {
    op_ns_ += duration;
    const Evidence evidence = EvidenceOf(row);
    evidence_ns_[static_cast<size_t>(evidence)] += duration;
    const bool inferred = IsInferred(evidence, record.confidence);
    if (evidence == Evidence::kCapture && inferred) matched_capture_ns_ += duration;
  }
  if (row.has_shapes) shapes_ns_ += duration;
  if (IsDirectionKnown(row)) direction_ns_ += duration;
  if (row.share.flops) flops_ns_ += duration;
  if (row.share.flops && row.sizes_by_launch) flops_by_launch_ns_ += duration;
  if (row.share.bytes) bytes_ns_ += duration;
  if (HasLaunch(row)) launch_ns_ += duration;
  if (HasRange(row)) range_ns_ += duration;
  Recorded& recorded = recorded_[static_cast<size_t>(family)];
  recorded.launches |= HasLaunch(row);
  recorded.ranges |= HasRange(row);
  // Collectives have shapes from their own records, whatever else was recorded.
  recorded.shapes |= row.has_shapes && !Communicates(row);
  launched_ |= HasLaunch(row);
  const bool told = HasOwnOp(row) && !row.sizes_by_launch;
  if (!told || !row.share.flops || !row.share.bytes) AddGaps(row, family);
  AddBusy(record);
}

void Coverage::AddReplay(const KernelRecord& record) {
  ++replay_count_;
  if (!record.timed()) return;
  replay_ns_ += record.duration_ns;
  AddBusy(record);
}

void Coverage::AddBusy(const KernelRecord& record) {
  if (!record.start_ns || !record.end_ns ||
      !BusyOf(record)->Add(*record.start_ns, *record.end_ns)) {
    busy_known_ &= false;
  }
}

void Coverage::EndInput() {
  if (busy_known_) ended_busy_ns_ = BusyNs();
  busy_.clear();
  launched_ = false;
  last_busy_ = nullptr;
}

int64_t Coverage::BusyNs() const {
  if (!busy_known_) return -1;
  int64_t total = ended_busy_ns_;
  for (const auto& [key, busy] : busy_) SaturatingAdd(&total, busy.Total());
  return total;
}

std::string Coverage::EvidenceShares() const {
  std::string text;
  const auto add = [&](Evidence evidence, int64_t ns, std::string_view how) {
    if (ns == 0) return;
    AppendFormat(&text, "{}{:.1f} % {}{}", text.empty() ? " (" : ", ",
                 Percent(ns, kernel_ns()).value_or(0), how, EvidenceWord(evidence));
  };
  for (const Evidence evidence : kEvidences) {
    if (evidence == Evidence::kRange) continue;
    const int64_t matched_ns = evidence == Evidence::kCapture ? matched_capture_ns() : 0;
    add(evidence, evidence_ns(evidence) - matched_ns, "by ");
    add(evidence, matched_ns, "inferred by ");
  }
  return text.empty() ? text : text + ")";
}

std::vector<std::string> Coverage::Facts() const {
  if (kernel_count_ == 0 && replay_count_ == 0) return {};
  const int64_t busy = BusyNs();
  std::vector<std::string> sentences = {
      fmt::format("kernel time {} ns, GPU busy {}", kernel_ns(),
                  busy < 0 ? "unknown (kernels without a start, or out of order)"
                           : fmt::format("{} ns{}", busy, replay_count_ > 0 ? " at most" : ""))};
  if (replay_count_ > 0) {
    sentences.push_back(fmt::format(
        "{} graph replays hide their kernels: the {} ns from their beginning to their end bound "
        "the kernels' time from above, and are in no share of kernel time below",
        int64_t{replay_count_}, int64_t{replay_ns_}));
  }
  if (kernel_count_ == 0) return sentences;
  const std::pair<const char*, int64_t> shares[] = {
      {"launch", launch_ns_}, {"range", range_ns_},         {"op", op_ns_},
      {"shapes", shapes_ns_}, {"direction", direction_ns_}, {"FLOPs", flops_ns_},
      {"bytes", bytes_ns_}};
  constexpr size_t kOpShare = 2;
  // Adjacent equal shares are printed once: "launch, range 100.0 %, op 97.9 %".
  std::string text;
  std::string last;
  for (const auto& [what, ns] : shares) {
    std::string share = fmt::format(" {:.1f} %", Percent(ns, kernel_ns()).value_or(0));
    if (&ns == &shares[kOpShare].second) share += EvidenceShares();
    if (share != last) text += std::exchange(last, share);
    AppendFormat(&text, "{} {}", text.empty() ? "" : ",", what);
  }
  text += last;
  sentences.push_back("share of kernel time with" + text);
  return sentences;
}

std::string_view Coverage::RemedyFor(size_t gap, Family family) const {
  const Recorded& recorded = recorded_[static_cast<size_t>(family)];
  MissingFact lack = kGaps[gap].lack;
  if (lack == MissingFact::kEarlyLaunches && !recorded.launches) lack = MissingFact::kLaunches;
  // Other kernels of the file have launches, so they were recorded.
  if (lack == MissingFact::kLaunches && recorded.launches) lack = MissingFact::kLostRecords;
  if (family == Family::kKineto) {
    if (lack == MissingFact::kRanges && recorded.ranges) lack = MissingFact::kAnnotations;
    if (lack == MissingFact::kArguments && recorded.shapes) return {};
  }
  const std::string_view remedy = RecordingRemedy(lack, family);
  return remedy.empty() && lack != kGaps[gap].lack ? RecordingFlag(lack, family) : remedy;
}

std::string Coverage::Gap::Sentence() const {
  return fmt::format("to raise {} (here {:.1f} % of kernel time): {}", raises, share_pct, remedy);
}

std::vector<Coverage::Gap> Coverage::Gaps() const {
  std::vector<Gap> gaps;
  for (size_t i = 0; i < kGapCount; ++i) {
    // Families with the same text share a sentence.
    std::vector<std::pair<std::string_view, int64_t>> texts;
    for (size_t family = 0; family < kFamilyCount; ++family) {
      const int64_t ns = gap_ns_[family][i];
      const std::string_view text = RemedyFor(i, static_cast<Family>(family));
      if (ns == 0 || text.empty()) continue;
      const auto same = std::find_if(texts.begin(), texts.end(),
                                     [&](const auto& entry) { return entry.first == text; });
      if (same == texts.end()) {
        texts.emplace_back(text, ns);
      } else {
        SaturatingAdd(&same->second, ns);
      }
    }
    for (const auto& [text, ns] : texts) {
      gaps.push_back({kGaps[i].raises, kGaps[i].lack, Percent(ns, kernel_ns()).value_or(0), text});
    }
  }
  return gaps;
}

std::vector<std::string> Coverage::Sentences() const {
  std::vector<std::string> sentences = Facts();
  for (const Gap& gap : Gaps()) sentences.push_back(gap.Sentence());
  return sentences;
}

}  // namespace oplens::prof
