#include "prof/run/host_collectives.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/ascii.h"
#include "ops/kernels/communication.h"
#include "parse/join/collectives.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/op_call.h"

namespace oplens::prof {
namespace {

/// Meaning of a range by its text.
enum RangeMeaning : uint8_t { kOtherRange, kCollectiveRange, kLibraryRange };

RangeMeaning HostCollectivesNameOf(std::string_view text) {
  // First letters of all candidates; skips most of the many texts.
  constexpr std::string_view kFirst = "_cghmnrux";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return kOtherRange;
  for (const std::string_view library : {"gloo:", "mpi:", "ucc:"}) {
    if (text.starts_with(library)) return kLibraryRange;
  }
  // NCCL's own ranges: "ncclAllReduce".
  const bool own = text.starts_with("nccl") && text.size() > 4 && IsUpper(text[4]);
  return own || ops::IsCommunicationRange(text) ? kCollectiveRange : kOtherRange;
}

/// -1 if unknown or too large.
int64_t HostCollectivesBytesOf(int64_t elements, ops::DType dtype) {
  if (elements < 0 || dtype == ops::DType::kUnknown) return -1;
  return ops::BytesOf(Checked(elements), dtype).Value().value_or(-1);
}

/// As recorded, otherwise by the extents; -1: unknown.
int64_t GroupSizeOf(const CollectiveFacts& facts, const CollectiveElements& elements) {
  if (facts.group_size >= 0) return facts.group_size;
  return parse::RanksByExtents(CollectiveWord(facts.kind), {elements.input, elements.output});
}

}  // namespace

HostCollectives::HostCollectives(const parse::Joined& joined)
    : joined_(joined), trace_(joined.trace()) {
  FindNames();
  if (names_.empty()) return;
  FindCalls();
  LinkWorkers();
  for (size_t i = 0; i < trace_.communications.size(); ++i) {
    if (trace_.communications[i].thread != kNoThread) records_.push_back(static_cast<uint32_t>(i));
  }
  const auto key = [this](uint32_t index) {
    const Communication& record = trace_.communications[index];
    return std::tuple(record.thread, record.start_ns, index);
  };
  std::sort(records_.begin(), records_.end(),
            [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
}

void HostCollectives::FindNames() {
  std::vector<uint8_t> names(trace_.strings.size(), kOtherRange);
  bool any = false;
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = HostCollectivesNameOf(trace_.strings.View(static_cast<StringId>(i)));
    any |= names[i] != kOtherRange;
  }
  if (any) names_ = std::move(names);
}

void HostCollectives::FindCalls() {
  for (size_t i = 0; i < trace_.ranges.size(); ++i) {
    const Range& range = trace_.ranges[i];
    if (names_[range.text] == kOtherRange || range.kind == RangeKind::kFrame ||
        range.kind == RangeKind::kModule || range.open() || range.end_ns < range.start_ns ||
        joined_.leaks().Has(i)) {
      continue;
    }
    AddRange(static_cast<uint32_t>(i));
  }
}

void HostCollectives::AddRange(uint32_t index) {
  const Range& range = trace_.ranges[index];
  bool inside = false;
  if (outer_ != kNone) {
    const Range& around = trace_.ranges[calls_[outer_].range];
    inside = trace_.ThreadOf(around) == trace_.ThreadOf(range) &&
             (range.start_ns < around.end_ns || range.start_ns == around.start_ns);
  }
  if (names_[range.text] == kLibraryRange) {
    if (inside && !calls_[outer_].on_host) {
      calls_[outer_].timed = index;
      calls_[outer_].on_host = true;
    } else {
      calls_.push_back({index, index, true});
    }
  } else if (!inside) {
    outer_ = calls_.size();
    calls_.push_back({index, index, false});
  } else {
    calls_[outer_].parts = true;
  }
}

void HostCollectives::LinkWorkers() {
  const auto is_alone = [this](const Call& call) {
    return names_[trace_.ranges[call.range].text] == kLibraryRange;
  };
  if (std::none_of(calls_.begin(), calls_.end(), is_alone)) return;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < calls_.size(); ++i) {
    if (is_alone(calls_[i]) || (!calls_[i].on_host && !calls_[i].parts)) order.push_back(i);
  }
  const auto key = [&](uint32_t i) {
    return std::tuple(trace_.ranges[calls_[i].range].start_ns, is_alone(calls_[i]), i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::map<std::pair<int64_t, CollectiveKind>, std::deque<uint32_t>> waiting;
  std::vector<bool> taken(calls_.size(), false);
  for (const uint32_t i : order) {
    const Range& range = trace_.ranges[calls_[i].range];
    const CollectiveKind kind = KindOfCollective(trace_.strings.View(range.text));
    if (kind == CollectiveKind::kUnknown || kind == CollectiveKind::kWait) continue;
    std::deque<uint32_t>& calls =
        waiting[{trace_.threads[trace_.ThreadOf(range)].process_id, kind}];
    if (!is_alone(calls_[i])) {
      calls.push_back(i);
    } else if (!calls.empty()) {
      Call& call = calls_[calls.front()];
      calls.pop_front();
      call.timed = calls_[i].timed;
      call.on_host = taken[i] = true;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!taken[i]) calls_[kept++] = calls_[i];
  }
  calls_.resize(kept);
}

size_t HostCollectives::OfKernel(size_t kernel) const {
  const auto* around =
      calls_.empty() ? nullptr : joined_.SurroundingsOf(static_cast<uint32_t>(kernel));
  if (around == nullptr) return kNone;
  uint32_t outermost = UINT32_MAX;
  for (const auto list : {parse::Around::kOps, parse::Around::kSequences, parse::Around::kPaths}) {
    for (const uint32_t range : joined_.RangesOf(*around, list)) {
      if (names_[trace_.ranges[range].text] != kOtherRange) outermost = std::min(outermost, range);
    }
  }
  if (outermost == UINT32_MAX) return kNone;
  const auto next =
      std::upper_bound(calls_.begin(), calls_.end(), outermost,
                       [](uint32_t range, const Call& call) { return range < call.range; });
  if (next == calls_.begin()) return kNone;
  const Range& call = trace_.ranges[(next - 1)->range];
  const Range& own = trace_.ranges[outermost];
  const bool inside = trace_.ThreadOf(call) == trace_.ThreadOf(own) && own.start_ns <= call.end_ns;
  return inside ? static_cast<size_t>(next - 1 - calls_.begin()) : kNone;
}

const HostCollectives::Amount& HostCollectives::AmountOf(StringId text) {
  const auto [at, fresh] = amounts_.try_emplace(text);
  if (!fresh) return at->second;
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(trace_.strings.View(text), &error);
  if (!call || call->cut > 0) return at->second;
  for (const OpArg& arg : call->args) {
    if (arg.kind != OpArg::Kind::kTensor || at->second.dtype != ops::DType::kUnknown) continue;
    at->second.dtype = ops::ParseDType(arg.dtype).value_or(ops::DType::kUnknown);
  }
  const parse::CallElements elements = parse::ElementsOf(*call);
  at->second.elements = {elements.input, elements.output};
  return at->second;
}

bool HostCollectives::TakeRecord(const Communication& record, const StringPool& strings,
                                 CollectiveFacts* facts) {
  const CollectiveKind kind = KindOfCollective(strings.View(record.name));
  if (kind == CollectiveKind::kWait) return false;
  if (facts->kind == CollectiveKind::kUnknown) facts->kind = kind;
  if (facts->group == 0) facts->group = record.group;
  if (facts->ranks == 0 && strings.View(record.ranks) != "[]") facts->ranks = record.ranks;
  if (facts->group_size < 0) facts->group_size = std::max<int64_t>(record.group_size, -1);
  if (facts->sequence < 0) facts->sequence = std::max<int64_t>(record.sequence, -1);
  if (facts->peer < 0) facts->peer = std::max<int64_t>(record.peer, -1);
  if (facts->dtype == ops::DType::kUnknown) {
    for (const OpArg& arg : parse::CommunicationCall(record, strings).args) {
      if (arg.kind == OpArg::Kind::kTensor) {
        facts->dtype = ops::ParseDType(arg.dtype).value_or(ops::DType::kUnknown);
      }
    }
  }
  const CollectiveElements told = {record.input_elements, record.output_elements};
  facts->group_size = GroupSizeOf(*facts, told);
  if (facts->size_bytes < 0) {
    const int64_t elements = MessageElements(facts->kind, told, facts->group_size);
    facts->size_bytes = HostCollectivesBytesOf(elements, facts->dtype);
  }
  return true;
}

std::vector<uint32_t> HostCollectives::TakeRecords(const Call& call, CollectiveFacts* facts) const {
  std::vector<uint32_t> labels;
  TakeRecords(call.range, facts, &labels);
  if (InOtherThread(call)) TakeRecords(call.timed, facts, &labels);
  return labels;
}

bool HostCollectives::InOtherThread(const Call& call) const {
  return trace_.ThreadOf(trace_.ranges[call.timed]) != trace_.ThreadOf(trace_.ranges[call.range]);
}

void HostCollectives::TakeRecords(uint32_t range, CollectiveFacts* facts,
                                  std::vector<uint32_t>* labels) const {
  const Range& outer = trace_.ranges[range];
  const ThreadIndex thread = trace_.ThreadOf(outer);
  const bool alone = names_[outer.text] == kLibraryRange;
  auto next = std::partition_point(records_.begin(), records_.end(), [&](uint32_t index) {
    const Communication& record = trace_.communications[index];
    return std::tie(record.thread, record.start_ns) < std::tie(thread, outer.start_ns);
  });
  for (; next != records_.end(); ++next) {
    const Communication& record = trace_.communications[*next];
    if (record.thread != thread || record.start_ns > outer.end_ns) break;
    if (alone && record.start_ns != outer.start_ns) break;
    if (alone && record.end_ns != outer.end_ns) continue;
    if (record.group_size < 0 && record.output_elements < 0) {
      labels->push_back(*next);
    } else {
      TakeRecord(record, trace_.strings, facts);
    }
  }
}

std::vector<uint32_t> HostCollectives::RangesOf(const Call& call) const {
  const Range& outer = trace_.ranges[call.range];
  std::vector<uint32_t> ranges = {call.range};
  if (names_[outer.text] == kLibraryRange) return ranges;
  for (uint32_t i = call.range + 1; i < trace_.ranges.size(); ++i) {
    const Range& range = trace_.ranges[i];
    if (trace_.ThreadOf(range) != trace_.ThreadOf(outer) || range.start_ns > outer.end_ns) break;
    // The next call may start the moment this one ends.
    if (range.start_ns == outer.end_ns && range.start_ns != outer.start_ns) break;
    if (names_[range.text] != kOtherRange && !range.open()) ranges.push_back(i);
  }
  if (InOtherThread(call)) ranges.push_back(call.timed);
  return ranges;
}

int64_t HostCollectives::TakeArguments(std::span<const uint32_t> ranges, CollectiveFacts* facts) {
  int64_t elements = -1;
  for (const uint32_t i : ranges) {
    const RangeKind kind = trace_.ranges[i].kind;
    if (kind != RangeKind::kOperator && kind != RangeKind::kMarker) continue;
    const StringId text = joined_.calls().CallOf(i);
    if (text == 0) continue;
    const Amount& amount = AmountOf(text);
    if (facts->dtype == ops::DType::kUnknown) facts->dtype = amount.dtype;
    facts->group_size = GroupSizeOf(*facts, amount.elements);
    if (elements >= 0) continue;
    elements = MessageElements(facts->kind, amount.elements, facts->group_size);
  }
  return elements;
}

CollectiveFacts HostCollectives::FactsOf(const Call& call) {
  CollectiveFacts facts;
  const std::vector<uint32_t> labels = TakeRecords(call, &facts);
  const std::vector<uint32_t> ranges = RangesOf(call);
  for (const uint32_t i : ranges) {
    if (facts.kind != CollectiveKind::kUnknown) break;
    facts.kind = KindOfCollective(trace_.strings.View(trace_.ranges[i].text));
  }
  const int64_t elements = TakeArguments(ranges, &facts);
  if (facts.group_size < 0) facts.group_size = parse::SizeOfGroup(trace_, facts.group);
  for (const uint32_t i : labels) {
    CollectiveFacts told = facts;
    TakeRecord(trace_.communications[i], trace_.strings, &told);
    facts.dtype = told.dtype;
    facts.kind = told.kind;
    if (elements < 0) facts.size_bytes = told.size_bytes;
  }
  if (facts.size_bytes < 0) facts.size_bytes = HostCollectivesBytesOf(elements, facts.dtype);
  return facts;
}

}  // namespace oplens::prof
