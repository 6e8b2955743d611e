#include "prof/views/collectives/collective_matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/free_memory.h"
#include "base/saturating.h"
#include "base/shown_text.h"
#include "prof/verdicts/run_times.h"
#include "prof/views/common/view.h"

namespace oplens::prof {
namespace {

/// Whether the message has the same size on all ranks.
bool HasOneSize(CollectiveKind kind) {
  return kind != CollectiveKind::kAllToAll && kind != CollectiveKind::kGather &&
         kind != CollectiveKind::kScatter && !IsPointToPoint(kind);
}

/// Compares all that is shown of two calls of one rank.
bool CollectiveMatchesBefore(const CollectiveRow& a, const CollectiveRow& b) {
  const auto key = [](const CollectiveRow& row) {
    const CollectiveSet::Call& call = row.call;
    const CollectiveSet::Recording& of = *row.recording;
    return std::tuple(call.start_ns, call.end_ns, call.latency_ns, call.exposed_ns, call.size_bytes,
                      call.sequence, row.step(), call.kind, call.time, call.dtype, of.origin_ns,
                      of.world_size, of.clock_offset_ns, call.before.idle_permille);
  };
  const auto key_a = key(a);
  const auto key_b = key(b);
  if (key_a != key_b) return key_a < key_b;
  if (*a.group != *b.group) return *a.group < *b.group;
  const WorkName nothing;
  return (a.work != nullptr ? *a.work : nothing) < (b.work != nullptr ? *b.work : nothing);
}

std::vector<std::string> CollectiveMatchesNamesOf(const CollectiveSet& set, Exchange* exchange) {
  std::vector<std::string> own;
  for (const auto& [name, recordings] : set.ranks()) own.push_back(name);
  std::vector<std::string> all = ValuesOfAll(own, "ranks", exchange);
  std::sort(all.begin(), all.end(), RankBefore());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice != all.end()) {
    throw Error(fmt::format("rank {}", ShownText(*twice)), "is in the files of two processes",
                "give all files of a rank to one");
  }
  return all;
}

}  // namespace

void CollectiveMatches::Tally::Merge(const Tally& other) {
  uneven |= other.uneven || each != other.each;
  ranks += other.ranks;
}

void CollectiveMatches::Meeting::Merge(const Meeting& other) {
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  id = std::min(id, other.id);
  ranks += other.ranks;
  timed += other.timed;
  if (other.first_rank >= first_rank) return;
  first_rank = other.first_rank;
  first_end_ns = other.first_end_ns;
  first_latency_ns = other.first_latency_ns;
  first_clock_ns = other.first_clock_ns;
  has_clock = other.has_clock;
}

void CollectiveMatches::Arrivals::Merge(const Arrivals& other) {
  const bool later =
      other.last_ns != last_ns ? other.last_ns > last_ns : other.last_rank < last_rank;
  before_last_ns =
      later ? std::max(last_ns, other.before_last_ns) : std::max(before_last_ns, other.last_ns);
  if (later) last_ns = other.last_ns;
  if (later) last_rank = other.last_rank;
  if (later) last = other.last;
  first_ns = std::min(first_ns, other.first_ns);
  ranks += other.ranks;
  apart |= other.apart;
}

CollectiveMatches::CollectiveMatches(const CollectiveSet& set)
    : CollectiveMatches(set, std::make_unique<NoExchange>().get()) {}

CollectiveMatches::CollectiveMatches(const CollectiveSet& set, Exchange* exchange) : set_(set) {
  ListRanks(exchange);
  ListWorks(exchange);
  for (Rank& rank : ranks_) Gather(&rank);
  places_ = {};
  Count(exchange);
  Meet(exchange);
}

void CollectiveMatches::ListRanks(Exchange* exchange) {
  names_ = CollectiveMatchesNamesOf(set_, exchange);
  for (const auto& [name, recordings] : set_.ranks()) {
    Rank& rank = ranks_.emplace_back();
    rank.name = &name;
    rank.recordings = &recordings;
    const auto at = std::lower_bound(names_.begin(), names_.end(), name, RankBefore());
    rank.number = static_cast<uint32_t>(at - names_.begin());
  }
  ListRuns(exchange);
}

void CollectiveMatches::ListRuns(Exchange* exchange) {
  // Of a rank, by its number: when it began, and how many calls it has.
  using Begin = std::pair<uint32_t, std::pair<std::optional<int64_t>, int64_t>>;
  std::vector<Begin> own;
  for (const Rank& rank : ranks_) {
    std::optional<int64_t> began_ns;
    size_t calls = 0;
    for (const CollectiveSet::Recording& recording : *rank.recordings) {
      const auto one_ns = TimeOfDay(recording.origin_ns, recording.clock_offset_ns);
      if (one_ns) began_ns = std::min(began_ns.value_or(*one_ns), *one_ns);
      calls += recording.call_count;
    }
    own.push_back({rank.number, {began_ns, static_cast<int64_t>(calls)}});
  }
  std::vector<std::optional<int64_t>> began_ns(names_.size());
  std::vector<int64_t> calls_before(names_.size() + 1);
  for (const auto& [number, of] : ValuesOfAll(own, "times", exchange)) {
    if (number >= began_ns.size()) continue;
    std::tie(began_ns[number], calls_before[number + 1]) = of;
  }
  std::partial_sum(calls_before.begin(), calls_before.end(), calls_before.begin(), SaturatingSum);
  const std::vector<int64_t> runs = RunsByTime(began_ns);
  several_runs_ = std::ranges::any_of(runs, [](int64_t run) { return run > 0; });
  for (Rank& rank : ranks_) {
    rank.run = std::max<int64_t>(0, runs[rank.number]);
    rank.calls_before = calls_before[rank.number];
  }
}

void CollectiveMatches::ListWorks(Exchange* exchange) {
  const Numbered<WorkName>& own = set_.works();
  std::vector<WorkName> names;
  for (uint32_t number = 0; number < own.size(); ++number) names.push_back(own[number]);
  works_ = ValuesOfAll(names, "ops", exchange);
  std::sort(works_.begin(), works_.end());
  works_.erase(std::unique(works_.begin(), works_.end()), works_.end());
  for (const WorkName& name : names) {
    const auto at = std::lower_bound(works_.begin(), works_.end(), name);
    places_of_works_.push_back(static_cast<uint32_t>(at - works_.begin()));
  }
}

std::vector<CollectiveRow> CollectiveMatches::CallsOf(const Rank& rank) const {
  std::vector<CollectiveRow> rows;
  for (const CollectiveSet::Recording& recording : *rank.recordings) {
    for (const CollectiveSet::Call& call : CollectiveSet::CallsOf(recording)) {
      rows.push_back(
          {rank.name, &recording, &set_.groups()[call.group], set_.WorkBefore(call), call, {}});
    }
  }
  // By all that is shown, so that the order of merging has no effect.
  if (rank.recordings->size() > 1) std::sort(rows.begin(), rows.end(), CollectiveMatchesBefore);
  return rows;
}

std::optional<CollectiveKey> CollectiveMatches::KeyOf(const CollectiveRow& row) {
  const CollectiveSet::Call& call = row.call;
  const bool numbered = call.sequence >= 0;
  if (row.group->size == 1) return std::nullopt;
  // A key must have some information.
  if (IsPointToPoint(call.kind) && row.group->size != 2) return std::nullopt;
  if (!numbered && call.kind == CollectiveKind::kUnknown) return std::nullopt;
  CollectiveKey key;
  key.group = call.group;
  key.numbered = numbered;
  key.kind = IsPointToPoint(call.kind) ? CollectiveKind::kSendRecv : call.kind;
  if (numbered) {
    key.sequence = call.sequence;
    return key;
  }
  key.dtype = call.dtype;
  if (HasOneSize(call.kind)) key.size_bytes = call.size_bytes;
  const auto step = row.recording->numbered_steps ? row.step() : std::nullopt;
  key.has_step = step.has_value();
  key.step = step.value_or(0);
  return key;
}

void CollectiveMatches::Gather(Rank* rank) {
  rank->first_call = meeting_of_.size();
  std::vector<uint32_t> touched;
  for (const CollectiveRow& row : CallsOf(*rank)) {
    auto key = KeyOf(row);
    meeting_of_.push_back(kNoMeeting);
    if (!key) continue;
    key->run = rank->run;
    const uint32_t place = PlaceOf(*key);
    if (alike_[place].count++ == 0) touched.push_back(place);
    Meeting own;
    own.ranks = 1;
    own.id = SaturatingSum(rank->calls_before,
                           static_cast<int64_t>(meeting_of_.size() - rank->first_call));
    any_all_to_all_ |= row.call.kind == CollectiveKind::kAllToAll;
    if (row.call.latency_ns >= 0) {
      own.timed = 1;
      own.shortest_ns = own.first_latency_ns = row.call.latency_ns;
      own.first_rank = rank->number;
      own.first_end_ns = row.call.end_ns;
      own.has_clock = row.recording->clock_offset_ns.has_value();
      own.first_clock_ns = row.recording->clock_offset_ns.value_or(0);
    }
    meeting_of_.back() = NextMeeting(place);
    meetings_[meeting_of_.back()].Merge(own);
  }
  for (const uint32_t place : touched) {
    Alike& alike = alike_[place];
    const Tally own{1, alike.count, false};
    if (alike.tally.ranks > 0) alike.tally.Merge(own);
    if (alike.tally.ranks == 0) alike.tally = own;
    alike.count = 0;
    alike.last = kNoMeeting;
  }
}

uint32_t CollectiveMatches::PlaceOf(const CollectiveKey& key) {
  const uint64_t hash = CollectiveKeyHash()(key);
  uint32_t place = places_.Find(hash, [&](uint32_t one) { return alike_[one].key == key; });
  if (place != EntryIndex::kNone) return place;
  place = static_cast<uint32_t>(alike_.size());
  places_.Add(hash, place);
  alike_.emplace_back().key = key;
  return place;
}

uint32_t CollectiveMatches::NextMeeting(uint32_t place) {
  Alike& alike = alike_[place];
  uint32_t& next = alike.last == kNoMeeting ? alike.first : next_[alike.last];
  if (next == kNoMeeting) {
    next = static_cast<uint32_t>(meetings_.size());
    alike.last = next;
    meetings_.emplace_back();
    alike_of_.push_back(place);
    next_.push_back(kNoMeeting);  // Invalidates `next`.
  } else {
    alike.last = next;
  }
  return alike.last;
}

void CollectiveMatches::Count(Exchange* exchange) {
  if (exchange->size() == 1) return;
  std::vector<CollectiveKey> keys;
  std::vector<Tally> tallies;
  for (const Alike& alike : alike_) {
    keys.push_back(alike.key);
    tallies.push_back(alike.tally);
  }
  CollectiveRounds(exchange, set_.groups(), keys).Merge(&tallies);
  for (size_t i = 0; i < alike_.size(); ++i) alike_[i].tally = tallies[i];
}

bool CollectiveMatches::IsUneven(const Alike& alike) const {
  const int64_t size = set_.groups()[alike.key.group].size;
  // More ranks than its size: several groups share the name.
  return alike.tally.uneven || (size > 0 && alike.tally.ranks > static_cast<uint64_t>(size));
}

bool CollectiveMatches::IsMet(const Alike& alike) const {
  return alike.tally.ranks > 1 && !IsUneven(alike);
}

template <typename List>
void CollectiveMatches::MergeMet(std::span<const uint32_t> met, CollectiveRounds* rounds,
                                 List* of) {
  std::vector<typename List::value_type> values;
  values.reserve(met.size());
  for (const uint32_t meeting : met) values.push_back((*of)[meeting]);
  rounds->Merge(&values);
  for (size_t i = 0; i < met.size(); ++i) (*of)[met[i]] = values[i];
}

void CollectiveMatches::Meet(Exchange* exchange) {
  std::vector<uint32_t> met;
  std::vector<CollectiveKey> keys;
  const bool alone = exchange->size() == 1;
  for (const Alike& alike : alike_) {
    if (alone || !IsMet(alike)) continue;
    CollectiveKey key = alike.key;
    for (uint32_t at = alike.first; at != kNoMeeting; at = next_[at], ++key.ordinal) {
      met.push_back(at);
      keys.push_back(key);
    }
  }
  FreeMemory(&next_);
  CollectiveRounds rounds(exchange, set_.groups(), keys);
  keys = {};
  if (!alone) MergeMet(met, &rounds, &meetings_);
  arrivals_.resize(meetings_.size());
  const RankClocks clocks = ClocksOfAll(exchange);
  for (Rank& rank : ranks_) {
    const std::vector<CollectiveRow> rows = CallsOf(rank);
    SetClocks(rows, clocks, &rank);
    Arrive(rows, rank);
  }
  if (!alone) MergeMet(met, &rounds, &arrivals_);
}

const CollectiveMatches::Meeting* CollectiveMatches::MeetingOf(const CollectiveRow& row,
                                                               uint32_t meeting) const {
  if (meeting == kNoMeeting || row.call.latency_ns < 0) return nullptr;
  const bool waits = meetings_[meeting].timed > 1 && IsMet(alike_[alike_of_[meeting]]);
  return waits ? &meetings_[meeting] : nullptr;
}

void CollectiveMatches::Arrive(const std::vector<CollectiveRow>& rows, const Rank& rank) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const CollectiveRow& row = rows[i];
    const uint32_t place = meeting_of_[rank.first_call + i];
    const Meeting* const meeting = MeetingOf(row, place);
    if (meeting == nullptr) continue;
    Arrivals own;
    if (const auto start_ns = ArrivalOf(rank, row, *meeting)) {
      own.first_ns = own.last_ns = *start_ns;
      own.last_rank = rank.number;
      own.last = row.call.before;
      if (own.last.work != BeforeCall::kNone) own.last.work = places_of_works_[own.last.work];
      own.ranks = 1;
    }
    const GroupClock* const clock = ClockOf(rank, row, *meeting);
    const bool by_order = !alike_[alike_of_[place]].key.numbered;
    if (by_order && EndsTogether(row.call.kind) && clock != nullptr &&
        clock->fit.count >= kLeastForClock) {
      const ClockLag lag = LagOf(row, *meeting);
      const int64_t off_ns = SaturatingDifference(lag.lag_ns, clock->fit.At(lag.time_ns));
      const int64_t longest_ns = std::max(row.call.latency_ns, meeting->first_latency_ns);
      own.apart = off_ns > longest_ns || off_ns < -longest_ns;
    }
    arrivals_[place].Merge(own);
  }
}

CollectiveShare CollectiveMatches::ShareOf(const Rank& rank, const CollectiveRow& row,
                                           uint32_t place) const {
  CollectiveShare share;
  if (row.group->size == 1) {
    share.match = CollectiveMatch::kAlone;
    share.transfer_ns = row.call.latency_ns;
  }
  if (place == kNoMeeting) return share;
  const Alike& alike = alike_[alike_of_[place]];
  const Arrivals& arrivals = arrivals_[place];
  if (IsUneven(alike)) share.loss = CollectiveLoss::kUneven;
  if (!IsMet(alike)) {
    if (several_runs_ && share.loss == CollectiveLoss::kNone) share.loss = CollectiveLoss::kApart;
    return share;
  }
  if (arrivals.apart) {
    share.loss = CollectiveLoss::kApart;
    return share;
  }
  share.ranks = meetings_[place].ranks;
  share.match_id = meetings_[place].id;
  share.match = alike.key.numbered ? CollectiveMatch::kSequence : CollectiveMatch::kOrder;
  const Meeting* const meeting = MeetingOf(row, place);
  if (meeting != nullptr) share.transfer_ns = meeting->shortest_ns;
  if (meeting != nullptr && EndsTogether(row.call.kind)) {
    const GroupClock* const clock = ClockOf(rank, row, *meeting);
    const ClockLag lag = LagOf(row, *meeting);
    const int64_t clock_ns = clock->fit.At(lag.time_ns);
    if (clock->same_clock) share.clock_ns = clock_ns;
    // A single call always fits.
    if (clock->fit.count > 1) share.residual_ns = SaturatingDifference(lag.lag_ns, clock_ns);
  }
  if (arrivals.ranks < 2) return share;
  share.last_rank = &names_[arrivals.last_rank];
  if (arrivals.last.work != BeforeCall::kNone) share.last_work = &works_[arrivals.last.work];
  share.last_idle_permille = arrivals.last.idle_permille;
  share.last_by_ns = SaturatingDifference(arrivals.last_ns, arrivals.before_last_ns);
  if (meeting == nullptr) return share;
  if (const auto start_ns = ArrivalOf(rank, row, *meeting)) {
    share.arrival_ns = SaturatingDifference(*start_ns, arrivals.first_ns);
  }
  return share;
}

std::vector<CollectiveRow> CollectiveMatches::RowsOf(size_t rank) const {
  std::vector<CollectiveRow> rows = CallsOf(ranks_[rank]);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].share = ShareOf(ranks_[rank], rows[i], meeting_of_[ranks_[rank].first_call + i]);
  }
  return rows;
}

void GiveCalls(const CollectiveMatches& matches, std::span<Partial* const> partials) {
  for (size_t rank = 0; rank < matches.rank_count(); ++rank) {
    const std::vector<CollectiveRow> calls = matches.RowsOf(rank);
    for (Partial* partial : partials) partial->AddCalls(calls);
  }
}

}  // namespace oplens::prof
