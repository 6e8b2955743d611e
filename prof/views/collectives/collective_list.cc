#include "prof/views/collectives/collective_list.h"

#include <string_view>

#include "prof/views/collectives/collective_sums.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

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

struct CallRow {
  const RankName& rank;
  const CollectiveList::Entry& entry;
  const CollectiveGroup& group;
  const CollectiveSet::Call& call = entry.call;
  const CollectiveShare& share = entry.share;

  std::optional<double> AlgoGbPerSecond() const {
    return GbPerSecond(AsDouble(call.size_bytes), share.transfer_ns);
  }
};

constexpr Column<CallRow> kCallColumns[] = {
    {kRankField, [](const CallRow& row) { return CellOf(row.rank); }},
    {kStepField, [](const CallRow& row) { return Integer(row.entry.step); }},
    {{"start_ns", "Start(ns)", "ns", FieldType::kInteger, 13,
      "start of its first kernel, or of the host range, from the first event of the rank",
      Fold::kKey},
     [](const CallRow& row) { return Integer(row.entry.since_ns); }},
    {kCollectiveKindField, [](const CallRow& row) { return Text(CollectiveWord(row.call.kind)); }},
    {kCollectiveGroupField, [](const CallRow& row) { return Text(row.group.name); }},
    {kCollectiveRanksField, [](const CallRow& row) { return Text(row.group.ranks); }},
    {kCollectiveGroupSizeField,
     [](const CallRow& row) { return Integer(CollectiveKnown(row.entry.group_size)); }},
    {{"seq", "Seq", "", FieldType::kInteger, 6, "its number in the group, if recorded", Fold::kKey},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.call.sequence)); }},
    {kCollectiveDtypeField, [](const CallRow& row) { return Text(ShownDType(row.call.dtype)); }},
    {{"size_bytes", "Size(B)", "B", FieldType::kInteger, 11, kCollectiveSizeField.help, Fold::kSum},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.call.size_bytes)); }},
    {{"time", "Time", "", FieldType::kText, 7,
      "what its times measure: kernel; host, the range of a library that works on the host; "
      "enqueue, only the host's call, which does not show how long the work took",
      Fold::kKey},
     [](const CallRow& row) { return Text(CollectiveListWordOf(row.call.time)); }},
    {{"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 12,
      "time in which its kernels ran, or the length of the host range; = wait_ns + transfer_ns; "
      "unknown for enqueue",
      Fold::kSum},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.call.latency_ns)); }},
    {{"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 12,
      "latency_ns - transfer_ns: wait for the rank that came last", Fold::kSum},
     [](const CallRow& row) {
       const int64_t latency_ns = row.call.latency_ns;
       const bool waits = row.share.transfer_ns >= 0 && latency_ns >= 0;
       return waits ? Cell{latency_ns - row.share.transfer_ns} : Cell{};
     }},
    {{"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 12,
      "shortest latency among the ranks that have the call; unknown if no other rank has it",
      Fold::kSum},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.share.transfer_ns)); }},
    {{"exposed_ns", "Exposed(ns)", "ns", FieldType::kInteger, 12,
      "part of latency_ns in which the rank computes nothing", Fold::kSum},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.call.exposed_ns)); }},
    {AsRatio({"algo_gbps", "Algo(GB/s)", "GB/s", FieldType::kDecimal, 10,
              "size_bytes / transfer_ns; unknown if transfer_ns is"},
             {"size_bytes", "transfer_ns", 1}),
     [](const CallRow& row) { return Decimal(row.AlgoGbPerSecond()); }},
    {{"bus_gbps", "Bus(GB/s)", "GB/s", FieldType::kDecimal, 10,
      "algo_gbps x 2 (n - 1) / n for all_reduce, (n - 1) / n for all_gather, reduce_scatter, "
      "all_to_all, gather, scatter, 1 for broadcast, reduce, send, recv; n = group_size"},
     [](const CallRow& row) {
       const auto algo = row.AlgoGbPerSecond();
       const auto factor = BusFactor(row.call.kind, row.entry.group_size);
       return algo && factor ? Cell{*algo * *factor} : Cell{};
     }},
    {AsRatio({"seen_gbps", "Seen(GB/s)", "GB/s", FieldType::kDecimal, 10,
              "size_bytes / latency_ns: includes the wait, so it is at most algo_gbps"},
             {"size_bytes", "latency_ns", 1}),
     [](const CallRow& row) {
       return Decimal(GbPerSecond(AsDouble(row.call.size_bytes), row.call.latency_ns));
     }},
    {{"matched_ranks", "Matched", "", FieldType::kInteger, 7,
      "ranks that have the call, including this one", Fold::kMax},
     [](const CallRow& row) { return Integer(int64_t{row.share.ranks}); }},
    {{"match", "Match", "", FieldType::kText, 9,
      "how it was matched on them: sequence, order, alone (a group of one rank), or unmatched",
      Fold::kKey},
     [](const CallRow& row) { return Text(CollectiveListWordOf(row.share.match)); }},
    {{"match_id", "MatchId", "", FieldType::kInteger, 7,
      "the same for all ranks' calls of one collective, for a send and its recv, and for no other "
      "call: the place of the first rank's call among all rows of the view, from 1",
      Fold::kKey},
     [](const CallRow& row) { return Integer(CollectiveKnown(row.share.match_id)); }},
    {{"clock_ns", "Clock(ns)", "ns", FieldType::kInteger, 10,
      "how far this rank's clock is ahead of that of the first rank when the call ends: the median "
      "of how much later calls of the group end on it, with the drift if it shows; known if both "
      "files record the time of day"},
     [](const CallRow& row) { return Integer(row.share.clock_ns); }},
    {{"residual_ns", "Residual(ns)", "ns", FieldType::kInteger, 12,
      "how much later the call ended than on the first rank, clocks corrected: ranks end a "
      "collective together, up to the errors of clocks and profiler"},
     [](const CallRow& row) { return Integer(row.share.residual_ns); }},
    {{"arrival_ns", "Arrival(ns)", "ns", FieldType::kInteger, 12,
      "how much later the call began than on the rank that came first, clocks corrected; unknown "
      "if no calls of the group set the clocks"},
     [](const CallRow& row) { return Integer(row.share.arrival_ns); }},
    {{"last_rank", "Last", "", FieldType::kText, 5, "the rank that came last"},
     [](const CallRow& row) {
       return row.share.last_rank != nullptr ? Text(*row.share.last_rank) : Cell{};
     }},
    {{"last_by_ns", "LastBy(ns)", "ns", FieldType::kInteger, 11,
      "how much later last_rank came than the one before it"},
     [](const CallRow& row) { return Integer(row.share.last_by_ns); }},
    {{"last_op", "LastOp", "", FieldType::kText, 20,
      "what the GPUs of last_rank mostly ran since its previous call: the op, or the kernel's name "
      "if it has none; unknown if they computed nothing"},
     [](const CallRow& row) {
       return row.share.last_work != nullptr ? Text(row.share.last_work->op) : Cell{};
     }},
    {{"last_layer", "LastLayer", "", FieldType::kName, 16, "layer of last_op"},
     [](const CallRow& row) {
       return row.share.last_work != nullptr ? Text(row.share.last_work->layer) : Cell{};
     }},
    {{"last_idle_pct", "LastIdle(%)", "%", FieldType::kDecimal, 11,
      "share of the time since that call in which the GPUs of last_rank computed nothing"},
     [](const CallRow& row) {
       const int32_t permille = row.share.last_idle_permille;
       return permille >= 0 ? Cell{permille / 10.0} : Cell{};
     }},
};

}  // namespace

std::string_view ShownDType(ops::DType dtype) {
  return dtype == ops::DType::kUnknown ? std::string_view() : ops::DTypeWord(dtype);
}

std::span<const Field> CollectiveCallFields() { return FieldsWithoutBy<kCallColumns>(); }

void CollectiveList::Add(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  std::vector<Entry>& entries = ranks_[RankName(*calls.front().rank)];
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
  TableOf<CallRow> table(kCallColumns, sink);
  for (const auto& [rank, entries] : ranks_) {
    for (const Entry& entry : entries) table.Add({rank, entry, groups_[entry.group]});
  }
}

template <typename Bytes, typename Of>
void CollectiveList::TransferEntry(Bytes* bytes, Of* entry) {
  bytes->Values(&entry->step, &entry->since_ns, &entry->group_size);
  TransferCall(bytes, int64_t{0}, &entry->call);
  bytes->Values(&entry->share.transfer_ns, &entry->share.clock_ns, &entry->share.residual_ns,
                &entry->share.arrival_ns, &entry->share.last_by_ns, &entry->share.match_id,
                &entry->share.ranks, &entry->share.match, &entry->share.loss,
                &entry->share.last_idle_permille);
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
    RankName rank;
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
      bytes->Check(group < groups.size(), "a call has a group that does not exist");
      Append(entry, groups[group], &entries);
    }
  }
}

}  // namespace oplens::prof
