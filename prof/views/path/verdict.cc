#include <optional>
#include <string>
#include <string_view>

#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/path/rank_verdict.h"

namespace oplens::prof {
namespace {

using VerdictRow = GroupRow<RankName, RankVerdict>;

constexpr Column<VerdictRow> kVerdictColumns[] = {
    {{"rank", "Rank", "", FieldType::kText, 6, "number of the process; empty where it is not known",
      Fold::kKey},
     [](const VerdictRow& row) { return CellOf(row.key); }},
    SumsTextColumn<&RankVerdict::sentence>{"verdict", "Verdict", Field::kShared,
                                           "what takes most of the time that could be saved"},
    FigureColumn<&RankVerdict::steps>{"steps", "Steps", "", 6,
                                      "steady steps in these figures; 0: the run after its cold "
                                      "start"},
    FigureColumn<&RankVerdict::total_ns>{"total_ns", "Total(ns)", "ns", 13, "their length"},
    {{"idle_pct", "Idle(%)", "%", FieldType::kDecimal, 8,
      "100 x time with all GPUs idle / total_ns"},
     [](const VerdictRow& row) { return PercentCell(row.sums.idle_ns, row.sums.total_ns); }},
    SumsTextColumn<&RankVerdict::cause>{
        "cause", "Cause", 14,
        "host, module-load, api-call, sync, pageable-copy, dataloader, communication, queued, "
        "tail, unknown; "
        "collectives: communication alone; copies: copies and memsets alone; "
        "busy: none of these has a tenth of the time"},
    FigureColumn<&RankVerdict::time_ns>{"time_ns", "Time(ns)", "ns", 13, "time of the cause"},
    {{"share_pct", "Share(%)", "%", FieldType::kDecimal, 8, "100 x time_ns / total_ns"},
     [](const VerdictRow& row) { return PercentCell(row.sums.time_ns, row.sums.total_ns); }},
    SumsTextColumn<&RankVerdict::call>{"call", "Call", 20,
                                       "API call with most of that time, or what holds work back"},
    SumsTextColumn<&RankVerdict::op>{"op", "Op", 20, "operator around most of that time"},
    SumsTextColumn<&RankVerdict::frame>{"line", "Line", 24,
                                        "line of Python around most of that time"},
    SumsTextColumn<&RankVerdict::command>{"command", "Command", Field::kShared,
                                          "command of oplens that shows it"},
};

class VerdictView : public GroupedPartial<RankName, RankVerdict, VerdictRow> {
 public:
  explicit VerdictView(const ViewOptions& options)
      : GroupedPartial("verdict", options, {}, kVerdictColumns) {}

  void Begin(const Run* run) override {
    GroupedPartial::Begin(run);
    finder_.Begin(run);
  }
  void Add(const PricedKernel& kernel) override { finder_.Add(kernel); }
  void End(const Run* run) override {
    const std::optional<RankVerdict> verdict = finder_.End();
    if (verdict) Take(RankName(run->rank()), *verdict);
  }

 private:
  VerdictFinder finder_;
};

}  // namespace

extern constexpr View kVerdictView = {
    .name = "verdict",
    .help = "what takes most of the time that could be saved, in one sentence",
    .needs = kVerdictNeeds,
    .fields = FieldsWithoutBy<kVerdictColumns>,
    .make = MakePartial<VerdictView>,
    .narrow = "rank,verdict",
    .saved_form = 1};

}  // namespace oplens::prof
