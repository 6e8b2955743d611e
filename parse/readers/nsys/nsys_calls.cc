#include "parse/readers/nsys/nsys_calls.h"

#include <algorithm>
#include <utility>

#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {
namespace {

bool IsCorrelationId(const Cell& cell) {
  return cell.is_int() && cell.integer() >= 0 && cell.integer() <= UINT32_MAX;
}

}  // namespace

std::string_view StripAbiSuffix(std::string_view api) {
  constexpr size_t kFewestDigits = 4;  // CUDA 3.2 is 3020.
  const size_t at = api.rfind("_v");
  if (at == std::string_view::npos) return api;
  const std::string_view digits = api.substr(at + 2);
  const bool version = digits.size() >= kFewestDigits &&
                       digits.find_first_not_of("0123456789") == std::string_view::npos;
  return version ? api.substr(0, at) : api;
}

NsysCalls::Key NsysCalls::KeyOf(uint32_t process, int64_t correlation_id) {
  return int64_t{process} << 32 | correlation_id;
}

NsysCalls::Key NsysCalls::Want(const Cell& correlation, const Cell& global_pid) {
  if (!IsCorrelationId(correlation)) return kNone;
  const uint32_t process = global_pid.is_int() ? context_.ProcessOf(global_pid.integer()) : 0;
  any_process_wanted_ |= process == 0;
  const Key key = KeyOf(process, correlation.integer());
  const auto next = static_cast<uint32_t>(launches_.size());
  if (wanted_.FindOrInsert(key, next) == next) launches_.push_back(kNoLaunch);
  return key;
}

void NsysCalls::Read() {
  constexpr std::string_view kColumns[] = {"start",         "end",    "globalTid",
                                           "correlationId", "nameId", "eventClass"};
  calls_.reserve(context_.RowsToReserve(nsys::kRuntimeTable));
  const bool classes = context_.HasColumn(nsys::kRuntimeTable, kColumns[5]);
  context_.ForEachWholeRow(nsys::kRuntimeTable, kColumns, 4, [&](int64_t row_id, const Cell* row) {
    if (context_.IsForeign(row[2])) return;
    const bool good = AllInts(row, 3) && IsCorrelationId(row[3]) && (row[5].is_int() || !classes);
    if (!good) {
      context_.CountBadRow(Reason::kBadLaunchRow, nsys::kRuntimeTable, row_id);
      return;
    }
    ReadCall(row_id, row);
  });
  CountRepeats();
}

void NsysCalls::ReadCall(int64_t row_id, const Cell* row) {
  const uint32_t process = context_.ProcessOf(row[2].integer());
  const Key key = KeyOf(process, row[3].integer());
  const bool call_class = !row[5].is_int() || row[5].integer() == nsys::kRuntimeCall ||
                          row[5].integer() == nsys::kDriverCall;
  if (!call_class) {
    repeats_.push_back(key);
    return;
  }
  ascending_ &= calls_.empty() || calls_.back() < key;
  calls_.push_back(key);
  several_processes_ |= process_ != 0 && process_ != process;
  process_ = process;
  const bool wanted = wanted_.Find(key) != IdPages::kNone;
  const Key anywhere = KeyOf(0, row[3].integer());
  const bool requested_anywhere = any_process_wanted_ && wanted_.Find(anywhere) != IdPages::kNone;
  const bool all = others_.wanted();
  if (!wanted && !requested_anywhere && !all) return;
  LaunchCall call;
  call.start_ns = row[0].integer();
  call.end_ns = row[1].integer();
  if (call.end_ns < call.start_ns) {
    context_.CountBadRow(Reason::kBadLaunchTimes, nsys::kRuntimeTable, row_id);
    return;
  }
  call.correlation_id = row[3].integer();
  call.api = ApiOf(row[4]);
  if (wanted) Keep(key, call, row[2].integer());
  if (requested_anywhere) Keep(anywhere, call, row[2].integer());
  if (!wanted && !requested_anywhere) others_.Add(call, row[2].integer());
}

/// Of rows with one key the first to start counts, whatever their order: a runtime call starts
/// before the driver call inside it.
void NsysCalls::Keep(Key key, LaunchCall call, int64_t global_tid) {
  auto& launches = context_.trace.launches;
  call.thread = context_.ThreadOf(global_tid);
  LaunchIndex& launch = launches_[wanted_.Find(key)];
  if (launch == kNoLaunch) {
    launch = static_cast<LaunchIndex>(launches.size());
    launches.push_back(call);
    return;
  }
  LaunchCall& kept = launches[launch];
  if (std::pair(call.start_ns, call.end_ns) < std::pair(kept.start_ns, kept.end_ns)) {
    std::swap(kept, call);
  }
  const bool all = others_.wanted();
  if (all && IsCallOfItsOwn(call, kept)) {
    others_.Add(call, context_.global_tids()[call.thread]);
  }
}

void NsysCalls::PlaceOthers() {
  others_.Place(&context_.trace,
                [this](int64_t global_tid) { return context_.ThreadOf(global_tid); });
}

void NsysCalls::CountRepeats() {
  if (!ascending_) {
    std::sort(calls_.begin(), calls_.end());
    const auto last = std::unique(calls_.begin(), calls_.end());
    context_.diagnostics.CountMany(Reason::kDuplicateLaunch, calls_.end() - last);
    calls_.erase(last, calls_.end());
  }
  const auto repeats = std::count_if(repeats_.begin(), repeats_.end(), [this](Key key) {
    return std::binary_search(calls_.begin(), calls_.end(), key);
  });
  context_.diagnostics.CountMany(Reason::kDuplicateLaunch, repeats);
  std::vector<Key>().swap(calls_);
  std::vector<Key>().swap(repeats_);
}

StringId NsysCalls::ApiOf(const Cell& name) {
  if (!name.is_int()) return context_.TextOf(name);
  const uint32_t found = apis_.Find(name.integer());
  if (found != IdMap::kNone) return found;
  StringPool& strings = context_.trace.strings;
  const StringId api = strings.Intern(StripAbiSuffix(strings.View(context_.TextOf(name))));
  return apis_.FindOrInsert(name.integer(), api);
}

LaunchIndex NsysCalls::Find(Key key) const {
  if (key == kNone) return kNoLaunch;
  const bool any_process = (key >> 32) == 0;
  if (any_process && several_processes_) return kNoLaunch;
  const uint32_t wanted = wanted_.Find(key);
  return wanted == IdPages::kNone ? kNoLaunch : launches_[wanted];
}

}  // namespace oplens::parse
