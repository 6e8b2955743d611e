#include "parse/readers/nvprof/nvprof_calls.h"

#include <algorithm>
#include <utility>

#include "parse/readers/nvprof/cuda_api_names.h"
#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {

void NvprofCalls::Read() {
  ReadTable(nvprof::kRuntimeTable, RuntimeApiName);
  ReadTable(nvprof::kDriverTable, DriverApiName);
}

/// A call of an earlier table stays; of rows of one table with the same correlation id the first to
/// start counts, whatever their order.
void NvprofCalls::ReadTable(std::string_view table, NameOf name_of) {
  constexpr std::string_view kColumns[] = {"cbid",      "start",    "end",
                                           "processId", "threadId", "correlationId"};
  const bool all = others_.wanted();
  const auto first_of_table = static_cast<LaunchIndex>(context_.trace.launches.size());
  IdMap api_of_cbid;
  context_.trace.launches.reserve(
      context_.trace.launches.size() +
      std::min(context_.RowsToReserve(table), launch_of_requested_.size()));
  IdBits met;
  int64_t repeats = 0;
  context_.ForEachWholeRow(table, kColumns, [&](int64_t row_id, const Cell* row) {
    if (!AllInts(row, 6)) {
      context_.CountBadRow(Reason::kBadLaunchRow, table, row_id);
      return;
    }
    const int64_t correlation_id = row[5].integer();
    if (!met.Insert(correlation_id)) ++repeats;
    const uint32_t wanted = wanted_.Find(correlation_id);
    if (wanted == IdPages::kNone && !all) return;
    LaunchCall call;
    call.start_ns = row[1].integer();
    call.end_ns = row[2].integer();
    if (call.end_ns < call.start_ns) {
      context_.CountBadRow(Reason::kBadLaunchTimes, table, row_id);
      return;
    }
    if (wanted == IdPages::kNone && !others_.Wants(call.start_ns, call.end_ns)) return;
    call.correlation_id = correlation_id;
    call.api = ApiName(row[0].integer(), name_of, &api_of_cbid);
    const int64_t thread = NvprofContext::ThreadKey(row[3].integer(), row[4].integer());
    if (wanted == IdPages::kNone) {
      others_.Add(call, thread);
    } else {
      Keep(first_of_table, call, thread, &launch_of_requested_[wanted]);
    }
  });
  if (repeats > 0) context_.diagnostics.CountMany(Reason::kDuplicateLaunch, repeats);
}

void NvprofCalls::Keep(LaunchIndex first_of_table, LaunchCall call, int64_t thread,
                       LaunchIndex* launch) {
  std::vector<LaunchCall>& launches = context_.trace.launches;
  call.thread = context_.ThreadOf(thread);
  if (*launch == kNoLaunch) {
    *launch = static_cast<LaunchIndex>(launches.size());
    launches.push_back(call);
    return;
  }
  LaunchCall& kept = launches[*launch];
  const bool better = *launch >= first_of_table &&
                      std::pair(call.start_ns, call.end_ns) < std::pair(kept.start_ns, kept.end_ns);
  if (better) std::swap(kept, call);
  const bool all = others_.wanted();
  if (!all || !IsCallOfItsOwn(call, kept)) return;
  const Thread& owner = context_.trace.threads[call.thread];
  others_.Add(call, NvprofContext::ThreadKey(owner.process_id, owner.thread_id));
}

void NvprofCalls::ForgetRequests() {
  wanted_ = {};
  std::vector<LaunchIndex>().swap(launch_of_requested_);
}

void NvprofCalls::PlaceOthers() {
  others_.Place(&context_.trace, [this](int64_t key) { return context_.ThreadOf(key); });
}

StringId NvprofCalls::ApiName(int64_t callback_id, NameOf name_of, IdMap* known) {
  const uint32_t found = known->Find(callback_id);
  if (found != IdMap::kNone) return found;
  return known->FindOrInsert(callback_id, context_.trace.strings.Intern(name_of(callback_id)));
}

}  // namespace oplens::parse
