#include "prof/views/collective_list.h"

#include <string_view>

#include "prof/views/collective_fields.h"
#include "prof/views/collective_sums.h"

namespace oplens::prof {
namespace {

std::optional<int64_t> CollectiveListKnown(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

std::optional<double> AsDouble(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(static_cast<double>(value));
}

std::string_view CollectiveListWordOf(CollectiveTime time) {
  constexpr std::string_view kWords[] = {"kernel", "host", "enqueue"};
  return kWords[static_cast<size_t>(time)];
}

std::string_view CollectiveListWordOf(CollectiveMatch match) {
  constexpr std::string_view kWords[] = {"unmatched", "alone", "sequence", "order"};
  return kWords[static_cast<size_t>(match)];
}

}  // namespace

void CollectiveList::Add(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  std::vector<Entry>& entries = ranks_[*calls.front().rank];
  entries.reserve(entries.size() + calls.size());
  for (const CollectiveRow& row : calls) {
    Append({row.step(), row.since_ns(), row.group_size(), 0, row.call, row.share},
           groups_.NumberOf(*row.group), &entries);
  }
}

void CollectiveList::Append(const Entry& entry, uint32_t group, std::vector<Entry>* to) {
  Entry& own = to->emplace_back(entry);
  own.group = group;
  const std::string*& last = own.share.last_rank;
  if (last != nullptr) last = &*last_ranks_.insert(*last).first;
  const WorkName*& work = own.share.last_work;
  if (work != nullptr) work = &*last_works_.insert(*work).first;
}

void CollectiveList::Merge(const CollectiveList& other) {
  const std::vector<uint32_t> groups = groups_.Merge(other.groups_);
  for (const auto& [rank, entries] : other.ranks_) {
    std::vector<Entry>& own = ranks_[rank];
    own.reserve(own.size() + entries.size());
    for (const Entry& entry : entries) Append(entry, groups[entry.group], &own);
  }
}

void CollectiveList::Emit(Sink* sink) const {
  for (const auto& [rank, entries] : ranks_) {
    for (const Entry& entry : entries) sink->Row(CellsOf(rank, entry));
  }
}

std::vector<Cell> CollectiveList::CellsOf(const std::string& rank, const Entry& entry) const {
  const CollectiveSet::Call& call = entry.call;
  const CollectiveShare& share = entry.share;
  const CollectiveGroup& group = groups_[entry.group];
  const bool waits = share.transfer_ns >= 0 && call.latency_ns >= 0;
  const auto algo = GbPerSecond(AsDouble(call.size_bytes), share.transfer_ns);
  const auto factor = BusFactor(call.kind, entry.group_size);
  return {Text(rank),
          Integer(entry.step),
          Integer(entry.since_ns),
          Text(CollectiveWord(call.kind)),
          Text(group.name),
          Text(group.ranks),
          Integer(CollectiveListKnown(entry.group_size)),
          Integer(CollectiveListKnown(call.sequence)),
          Text(ShownDType(call.dtype)),
          Integer(CollectiveListKnown(call.size_bytes)),
          Text(CollectiveListWordOf(call.time)),
          Integer(CollectiveListKnown(call.latency_ns)),
          waits ? Cell{call.latency_ns - share.transfer_ns} : Cell{},
          Integer(CollectiveListKnown(share.transfer_ns)),
          Integer(CollectiveListKnown(call.exposed_ns)),
          Decimal(algo),
          algo && factor ? Cell{*algo * *factor} : Cell{},
          Decimal(GbPerSecond(AsDouble(call.size_bytes), call.latency_ns)),
          Integer(int64_t{share.ranks}),
          Text(CollectiveListWordOf(share.match)),
          Integer(share.clock_ns),
          Integer(share.residual_ns),
          Integer(share.arrival_ns),
          share.last_rank != nullptr ? Text(*share.last_rank) : Cell{},
          Integer(share.last_by_ns),
          share.last_work != nullptr ? Text(share.last_work->op) : Cell{},
          share.last_work != nullptr ? Text(share.last_work->layer) : Cell{},
          share.last_idle_permille >= 0 ? Cell{share.last_idle_permille / 10.0} : Cell{}};
}

template <typename Bytes, typename Of>
void CollectiveList::TransferEntry(Bytes* bytes, Of* entry) {
  bytes->Values(&entry->step, &entry->since_ns, &entry->group_size);
  TransferCall(bytes, int64_t{0}, &entry->call);
  bytes->Values(&entry->share.transfer_ns, &entry->share.clock_ns, &entry->share.residual_ns,
                &entry->share.arrival_ns, &entry->share.last_by_ns, &entry->share.ranks,
                &entry->share.match, &entry->share.loss, &entry->share.last_idle_permille);
  if constexpr (Bytes::kReads) {
    bytes->Check(entry->share.transfer_ns >= -1, "a call has a negative time");
    bytes->Check(entry->share.transfer_ns <= entry->call.latency_ns || entry->call.latency_ns < 0,
                 "a call transfers for longer than it takes");
    bytes->Check(entry->share.last_idle_permille >= -1 &&
                     entry->share.last_idle_permille <= BeforeCall::kWholePermille,
                 "a share is more than the whole");
  }
}

void CollectiveList::Save(ByteWriter* bytes) const {
  groups_.Save(bytes);
  bytes->Number(ranks_.size());
  for (const auto& [rank, entries] : ranks_) {
    bytes->Values(&rank);
    bytes->Number(entries.size());
    for (const Entry& entry : entries) {
      TransferEntry(bytes, &entry);
      const bool has_last = entry.share.last_rank != nullptr;
      bytes->Values(&has_last);
      if (has_last) bytes->Values(entry.share.last_rank);
      const bool has_work = entry.share.last_work != nullptr;
      bytes->Values(&has_work);
      if (has_work) bytes->Values(entry.share.last_work);
      bytes->Number(entry.group);
    }
  }
}

void CollectiveList::Load(ByteReader* bytes) {
  const std::vector<uint32_t> groups = groups_.Load(bytes);
  for (size_t left = bytes->Size(2); left > 0; --left) {
    std::string rank;
    bytes->Values(&rank);
    std::vector<Entry>& entries = ranks_[rank];
    for (size_t more = bytes->Size(24); more > 0; --more) {
      Entry entry;
      TransferEntry(bytes, &entry);
      bool has_last = false;
      std::string last_rank;
      bytes->Values(&has_last);
      if (has_last) bytes->Values(&last_rank);
      if (has_last) entry.share.last_rank = &last_rank;
      bool has_work = false;
      WorkName last_work;
      bytes->Values(&has_work);
      if (has_work) bytes->Values(&last_work);
      if (has_work) entry.share.last_work = &last_work;
      const uint64_t group = bytes->Number();
      bytes->Check(group < groups.size(), "a call is of a group that none is");
      Append(entry, groups[group], &entries);
    }
  }
}

}  // namespace oplens::prof
