#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/join/joined.h"
#include "parse/model/kernel_names.h"
#include "prof/run/call_sites.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/idle_gaps.h"
#include "prof/views/common/group_view.h"

namespace oplens::prof {
namespace {

/// Gaps that a rank keeps: the longest.
constexpr size_t kMostGaps = 1000;

struct GapKey {
  RankName rank;
  int64_t device = 0;
  int64_t start_ns = 0;  ///< From the rank's first event.

  friend auto operator<=>(const GapKey&, const GapKey&) = default;
};

struct GapSums {
  Sum length_ns;
  std::optional<int64_t> step;
  Sum cause_ns;
  std::string cause;  ///< Of the largest part.
  std::string call;
  std::string op;
  std::string frame;
  std::string next;

  /// Keys are unique, except for two recordings of one rank.
  void Merge(const GapSums& other) {
    const auto order = [](const GapSums& one) {
      return std::tuple(int64_t{one.length_ns}, one.step, int64_t{one.cause_ns},
                        std::tie(one.cause, one.call, one.op, one.frame, one.next));
    };
    if (order(*this) < order(other)) *this = other;
  }
};

using GapRow = GroupRow<GapKey, GapSums>;

constexpr Column<GapRow> kGapColumns[] = {
    KeyColumn<&GapKey::rank>{kRankField},
    KeyColumn<&GapKey::device>{kDeviceField},
    {{"start_ns", "Start(ns)", "ns", FieldType::kInteger, 13,
      "start of the gap, from the rank's first event", Fold::kKey},
     [](const GapRow& row) { return Integer(row.key.start_ns); }},
    {{"step", "Step", "", FieldType::kInteger, 6, "number of the step in which it begins"},
     [](const GapRow& row) { return Integer(row.sums.step); }},
    FigureColumn<&GapSums::length_ns>{"gap_ns", "Gap(ns)", "ns", 12, "length of the gap"},
    SumsTextColumn<&GapSums::cause>{"cause", "Cause", 14, "cause of its largest part (idle)"},
    FigureColumn<&GapSums::cause_ns>{"cause_ns", "Cause(ns)", "ns", 12, "time of that cause"},
    SumsTextColumn<&GapSums::call>{"call", "Call", 22,
                                   "API call that this is about; queued: what holds the work back",
                                   FieldType::kName},
    SumsTextColumn<&GapSums::op>{"op", "Op", 22, "operator around it on the launching thread"},
    SumsTextColumn<&GapSums::frame>{"line", "Line", 24, "line of Python around it"},
    SumsTextColumn<&GapSums::next>{"next", "Next", 30, "work that ends the gap", FieldType::kName},
};

struct KeptGap {
  int64_t length_ns = 0;
  int32_t device_id = 0;
  Interval time;
  std::optional<DeviceEvent> next;
  IdlePart part;         ///< With the largest cause: its longest.
  int64_t cause_ns = 0;  ///< All parts of that cause.
};

bool IsLonger(const KeptGap& a, const KeptGap& b) {
  return std::tuple(a.length_ns, b.device_id, b.time.start_ns) >
         std::tuple(b.length_ns, a.device_id, a.time.start_ns);
}

KeptGap KeptOf(const IdleGap& gap) {
  KeptGap kept{gap.length_ns(), gap.device_id, gap.time, {}, {}, 0};
  if (gap.next != nullptr) kept.next = *gap.next;
  const auto most = std::max_element(gap.ns.begin(), gap.ns.end());
  kept.cause_ns = *most;
  const auto cause = static_cast<IdleCause>(most - gap.ns.begin());
  for (const IdlePart& part : gap.parts) {
    if (part.cause == cause && LengthOf(part.time) > LengthOf(kept.part.time)) kept.part = part;
  }
  return kept;
}

std::string NextOf(const Run& run, const DeviceEvent& event) {
  const Trace& trace = run.trace();
  switch (event.work) {
    case WorkClass::kCopy:
      return CopyNameOf(trace.copies[event.index].copy_kind);
    case WorkClass::kFill:
      return std::string(kFillName);
    case WorkClass::kReplay:
      return "(graph replay)";
    default:
      return run.names().Of(trace.kernels[event.index]).base;
  }
}

void FindGaps(const Run& run, ViewGroups<kGapColumns>* groups) {
  if (run.device_work().events().empty()) return;
  const std::vector<Interval> windows = WindowsOf(run);
  std::vector<KeptGap> kept;
  FindIdleGaps(run, windows, IdleOf::kDevice, [&](const IdleGap& gap) {
    if (kept.size() == kMostGaps && gap.length_ns() <= kept.front().length_ns) return;
    kept.push_back(KeptOf(gap));
    std::push_heap(kept.begin(), kept.end(), IsLonger);
    if (kept.size() <= kMostGaps) return;
    std::pop_heap(kept.begin(), kept.end(), IsLonger);
    kept.pop_back();
  });
  CallSites sites(run.joined());
  for (const KeptGap& gap : kept) sites.Ask(gap.part.thread, gap.part.time.start_ns);
  const std::vector<CallSite> found = sites.Find();
  const Trace& trace = run.trace();
  const int64_t origin_ns = run.origin_ns();
  const std::span<const Step> steps = run.steps().all();
  for (size_t i = 0; i < kept.size(); ++i) {
    const KeptGap& gap = kept[i];
    GapSums sums;
    sums.length_ns = gap.length_ns;
    sums.cause_ns = gap.cause_ns;
    sums.cause = IdleCauseWord(gap.part.cause);
    if (gap.part.cause == IdleCause::kQueued) {
      sums.call = HeldByWord(gap.part.held);
    } else if (gap.part.call != kNoLaunch) {
      sums.call = trace.strings.View(trace.launches[gap.part.call].api);
    }
    sums.op = sites.texts()[found[i].op];
    sums.frame = sites.texts()[found[i].frame];
    if (gap.next) sums.next = NextOf(run, *gap.next);
    const auto step = std::ranges::find_if(steps, [&](const Step& one) {
      return one.span.start_ns <= gap.time.start_ns && gap.time.start_ns < one.span.end_ns;
    });
    if (step != steps.end()) sums.step = step->number;
    groups->Take({RankName(run.rank()), gap.device_id, LengthOf({origin_ns, gap.time.start_ns})},
                 sums);
  }
}

/// The longest first.
void EmitGaps(const std::map<GapKey, GapSums>& groups, TableOf<GapRow>* table) {
  std::vector<const std::pair<const GapKey, GapSums>*> order;
  for (const auto& entry : groups) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.length_ns > b->second.length_ns;
  });
  for (const auto* entry : order) table->Add({entry->first, entry->second});
}

}  // namespace

extern constexpr View kGapsView = {.name = "gaps",
                                   .help = "the longest times in which a GPU was idle, and why",
                                   .needs = kIdleGapsNeeds,
                                   .fields = FieldsWithoutBy<kGapColumns>,
                                   .make = MakeGroups<kGapsView, FindGaps, EmitGaps>,
                                   .narrow = "step,gap_ns,cause,call,op,next",
                                   .may_be_empty = true,
                                   .saved_form = 1};

}  // namespace oplens::prof
