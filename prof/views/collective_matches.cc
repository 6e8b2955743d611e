#include "prof/views/collective_matches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace oplens::prof {
namespace {

/// a - b within the bounds of the type.
int64_t Difference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? INT64_MIN : INT64_MAX;
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

/// Whether all ranks put equally much into it, as far as one sees in the size of the message.
bool HasOneSize(CollectiveKind kind) {
  return kind != CollectiveKind::kAllToAll && kind != CollectiveKind::kGather &&
         kind != CollectiveKind::kScatter && !IsPointToPoint(kind);
}

/// By all that is shown of two calls of one rank.
bool Before(const CollectiveRow& a, const CollectiveRow& b) {
  const auto key = [](const CollectiveRow& row) {
    const CollectiveSet::Call& call = row.call;
    const CollectiveSet::Recording& of = *row.recording;
    return std::tuple(call.start_ns, call.end_ns, call.latency_ns, call.exposed_ns, call.size_bytes,
                      call.sequence, row.step(), call.kind, call.time, call.dtype, of.origin_ns,
                      of.world_size, of.clock_offset_ns);
  };
  const auto key_a = key(a);
  const auto key_b = key(b);
  return key_a != key_b ? key_a < key_b : *a.group < *b.group;
}

}  // namespace

int64_t CollectiveRow::since_ns() const {
  int64_t since_ns = 0;
  return __builtin_sub_overflow(call.start_ns, recording->origin_ns, &since_ns) ? INT64_MAX
                                                                                : since_ns;
}

int64_t CollectiveRow::group_size() const {
  if (group->size > 0) return group->size;
  const bool whole = !group->known() && share.match != CollectiveMatch::kNone &&
                     recording->world_size == int64_t{share.ranks};
  return whole ? recording->world_size : -1;
}

/// A call by what it has in common with the same one on other ranks.
struct CollectiveMatches::Entry {
  uint32_t group = 0;
  CollectiveKind kind = CollectiveKind::kUnknown;
  bool numbered = false;
  int64_t sequence = -1;
  ops::DType dtype = ops::DType::kUnknown;
  int64_t size_bytes = -1;
  bool has_step = false;
  int64_t step = 0;
  uint32_t rank = 0;
  uint32_t row = 0;

  auto key() const {
    return std::tie(group, kind, numbered, sequence, dtype, size_bytes, has_step, step);
  }
};

CollectiveMatches::CollectiveMatches(const CollectiveSet& set) {
  AddRows(set);
  first_of_.resize(rows_.size());
  std::iota(first_of_.begin(), first_of_.end(), 0U);
  const std::vector<Entry> entries = Entries();
  for (auto begin = entries.cbegin(); begin != entries.cend();) {
    auto end = begin + 1;
    while (end != entries.cend() && end->key() == begin->key()) ++end;
    MatchRun(begin, end);
    begin = end;
  }
  AlignClocks();
  PartDistant();
  lags_ = {};
  first_of_ = {};
  rank_of_ = {};
}

std::span<const CollectiveRow> CollectiveMatches::RowsOf(size_t rank) const {
  const size_t begin = rank == 0 ? 0 : ends_[rank - 1];
  return std::span(rows_).subspan(begin, ends_[rank] - begin);
}

void CollectiveMatches::AddRows(const CollectiveSet& set) {
  uint32_t rank = 0;
  for (const auto& [name, recordings] : set.ranks()) {
    const size_t begin = rows_.size();
    for (const CollectiveSet::Recording& recording : recordings) {
      for (const CollectiveSet::Call& call : recording.calls) {
        rows_.push_back({&name, &recording, &set.groups()[call.group], call, {}});
      }
    }
    // By all that is shown, so that the order of merging has no effect.
    if (recordings.size() > 1) {
      std::sort(rows_.begin() + static_cast<int64_t>(begin), rows_.end(), Before);
    }
    rank_of_.resize(rows_.size(), rank++);
    ends_.push_back(rows_.size());
  }
}

std::vector<CollectiveMatches::Entry> CollectiveMatches::Entries() {
  std::vector<Entry> entries;
  entries.reserve(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    const CollectiveRow& row = rows_[i];
    const CollectiveSet::Call& call = row.call;
    if (row.group->size == 1) {
      rows_[i].share.match = CollectiveMatch::kAlone;
      rows_[i].share.transfer_ns = call.latency_ns;
      continue;
    }
    const bool numbered = call.sequence >= 0;
    // What it is matched by must say more than nothing.
    if (IsPointToPoint(call.kind) && row.group->size != 2) continue;
    if (!numbered && call.kind == CollectiveKind::kUnknown) continue;
    Entry& entry = entries.emplace_back();
    entry.group = call.group;
    entry.numbered = numbered;
    entry.kind = IsPointToPoint(call.kind) ? CollectiveKind::kSendRecv : call.kind;
    entry.rank = rank_of_[i];
    entry.row = static_cast<uint32_t>(i);
    if (numbered) {
      entry.sequence = call.sequence;
      continue;
    }
    entry.dtype = call.dtype;
    if (HasOneSize(call.kind)) entry.size_bytes = call.size_bytes;
    const auto step = row.recording->numbered_steps ? row.step() : std::nullopt;
    entry.has_step = step.has_value();
    entry.step = step.value_or(0);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple_cat(a.key(), std::tie(a.rank, a.row)) <
           std::tuple_cat(b.key(), std::tie(b.rank, b.row));
  });
  return entries;
}

void CollectiveMatches::MatchRun(std::vector<Entry>::const_iterator begin,
                                 std::vector<Entry>::const_iterator end) {
  size_t ranks = 0;
  size_t stride = 0;
  for (auto at = begin; at != end; ++ranks) {
    auto next = at;
    while (next != end && next->rank == at->rank) ++next;
    const auto count = static_cast<size_t>(next - at);
    if (ranks > 0 && count != stride) {
      Lose(begin, end, CollectiveLoss::kUneven);
      return;
    }
    stride = count;
    at = next;
  }
  const CollectiveGroup& group = *rows_[begin->row].group;
  if (ranks < 2) return;
  if (group.size > 0 && ranks > static_cast<size_t>(group.size)) {
    // Several groups of one name.
    Lose(begin, end, CollectiveLoss::kUneven);
    return;
  }
  for (size_t i = 0; i < stride; ++i) MatchOne(begin + static_cast<int64_t>(i), ranks, stride);
}

void CollectiveMatches::Lose(std::vector<Entry>::const_iterator begin,
                             std::vector<Entry>::const_iterator end, CollectiveLoss loss) {
  for (auto at = begin; at != end; ++at) rows_[at->row].share.loss = loss;
}

/// Of each rank one, `stride` apart.
void CollectiveMatches::MatchOne(std::vector<Entry>::const_iterator begin, size_t ranks,
                                 size_t stride) {
  int64_t shortest_ns = INT64_MAX;
  size_t timed = 0;
  const Entry* first = nullptr;
  for (size_t i = 0; i < ranks; ++i) {
    const Entry& entry = begin[static_cast<int64_t>(i * stride)];
    const CollectiveSet::Call& call = rows_[entry.row].call;
    if (call.latency_ns < 0) continue;
    ++timed;
    shortest_ns = std::min(shortest_ns, call.latency_ns);
    if (first == nullptr) first = &entry;
  }
  for (size_t i = 0; i < ranks; ++i) {
    const Entry& entry = begin[static_cast<int64_t>(i * stride)];
    CollectiveRow& row = rows_[entry.row];
    first_of_[entry.row] = begin->row;
    row.share.ranks = static_cast<uint32_t>(ranks);
    row.share.match = entry.numbered ? CollectiveMatch::kSequence : CollectiveMatch::kOrder;
    if (timed < 2 || row.call.latency_ns < 0) continue;
    row.share.transfer_ns = shortest_ns;
    if (!EndsTogether(row.call.kind)) continue;
    const CollectiveRow& of_first = rows_[first->row];
    const auto& clock = row.recording->clock_offset_ns;
    const auto& first_clock = of_first.recording->clock_offset_ns;
    EndLag& lag = lags_.emplace_back();
    lag.group = entry.group;
    lag.first_rank = first->rank;
    lag.rank = entry.rank;
    lag.row = entry.row;
    lag.first_row = first->row;
    lag.same_clock = clock && first_clock;
    lag.lag_ns = lag.same_clock ? Difference(Sum(row.call.end_ns, *clock),
                                             Sum(of_first.call.end_ns, *first_clock))
                                : Difference(row.call.end_ns, of_first.call.end_ns);
  }
}

void CollectiveMatches::AlignClocks() {
  const auto place = [](const EndLag& lag) { return lag.clocks(); };
  std::sort(lags_.begin(), lags_.end(), [&](const EndLag& a, const EndLag& b) {
    return std::tuple_cat(place(a), std::tie(a.lag_ns)) <
           std::tuple_cat(place(b), std::tie(b.lag_ns));
  });
  for (size_t begin = 0; begin < lags_.size();) {
    size_t end = begin + 1;
    while (end < lags_.size() && lags_[end].SameClocks(lags_[begin])) ++end;
    const int64_t median_ns = lags_[begin + (end - begin - 1) / 2].lag_ns;
    for (size_t i = begin; i < end; ++i) {
      CollectiveShare& share = rows_[lags_[i].row].share;
      if (lags_[i].same_clock) share.clock_ns = median_ns;
      // One call alone says nothing of how well they agree.
      if (end - begin > 1) share.residual_ns = Difference(lags_[i].lag_ns, median_ns);
    }
    begin = end;
  }
}

void CollectiveMatches::PartDistant() {
  constexpr size_t kLeast = 3;
  std::vector<bool> apart(rows_.size(), false);  // By first row.
  for (size_t begin = 0; begin < lags_.size();) {
    const EndLag& one = lags_[begin];
    size_t end = begin + 1;
    while (end < lags_.size() && lags_[end].SameClocks(one)) ++end;
    for (size_t i = begin; i < end && end - begin >= kLeast; ++i) {
      const CollectiveRow& row = rows_[lags_[i].row];
      const int64_t lag_ns = row.share.residual_ns.value_or(0);
      const int64_t longest_ns =
          std::max(row.call.latency_ns, rows_[lags_[i].first_row].call.latency_ns);
      const bool by_order = row.share.match == CollectiveMatch::kOrder;
      if (by_order && (lag_ns > longest_ns || lag_ns < -longest_ns)) {
        apart[first_of_[lags_[i].row]] = true;
      }
    }
    begin = end;
  }
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!apart[first_of_[i]]) continue;
    rows_[i].share = {};
    rows_[i].share.loss = CollectiveLoss::kApart;
  }
}

}  // namespace oplens::prof
