#include "oplens/screen_json.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "oplens/next_commands.h"
#include "parse/model/evidence.h"

namespace oplens::screen {
namespace {

using ScreenJsonValue = nlohmann::ordered_json;

ScreenJsonValue TypeSchema(std::string_view type, bool can_be_unknown) {
  if (!can_be_unknown) return {{"type", type}};
  return {{"type", {type, "null"}}};
}

// A member as JSON, and its schema, by its type. Of texts "" is unknown.

ScreenJsonValue ValueOf(bool value) { return value; }
ScreenJsonValue ValueOf(double value) { return value; }
ScreenJsonValue ValueOf(int64_t value) { return value; }
ScreenJsonValue ValueOf(size_t value) { return value; }
ScreenJsonValue ValueOf(const std::string& text) {
  return text.empty() ? ScreenJsonValue() : ScreenJsonValue(text);
}
ScreenJsonValue ValueOf(const std::vector<std::string>& texts) { return texts; }
template <typename T>
ScreenJsonValue ValueOf(const std::optional<T>& value) {
  return value ? ValueOf(*value) : ScreenJsonValue();
}

template <typename T>
ScreenJsonValue SchemaOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return TypeSchema("boolean", false);
  } else if constexpr (std::is_integral_v<T>) {
    return TypeSchema("integer", false);
  } else if constexpr (std::is_floating_point_v<T>) {
    return TypeSchema("number", false);
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return TypeSchema("number", true);
  } else if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
    return TypeSchema("integer", true);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return TypeSchema("string", true);
  } else {
    static_assert(std::is_same_v<T, std::vector<std::string>>);
    return {{"type", "array"}, {"items", TypeSchema("string", false)}};
  }
}

/// A key of the object that a T becomes.
template <typename T>
struct Key {
  std::string_view name;
  std::string_view text;  ///< What it is, with its unit.
  ScreenJsonValue (*value)(const T& of);
  ScreenJsonValue (*schema)();
};

template <auto kMember, typename T>
constexpr Key<T> KeyOf(std::string_view name, std::string_view text) {
  using Value = std::remove_cvref_t<decltype(std::declval<T>().*kMember)>;
  return {name, text, [](const T& of) { return ValueOf(of.*kMember); }, SchemaOf<Value>};
}

template <typename T, size_t kCount>
constexpr std::span<const Key<T>> All(const Key<T> (&keys)[kCount]) {
  return keys;
}

template <typename T>
ScreenJsonValue ObjectOf(std::span<const Key<T>> keys, const T& of) {
  ScreenJsonValue object = ScreenJsonValue::object();
  for (const Key<T>& key : keys) object[std::string(key.name)] = key.value(of);
  return object;
}
template <typename T>
ScreenJsonValue ListOf(std::span<const Key<T>> keys, const std::vector<T>& all) {
  ScreenJsonValue list = ScreenJsonValue::array();
  for (const T& one : all) list.push_back(ObjectOf(keys, one));
  return list;
}
template <typename T>
ScreenJsonValue ObjectSchema(std::span<const Key<T>> keys) {
  ScreenJsonValue properties = ScreenJsonValue::object();
  ScreenJsonValue required = ScreenJsonValue::array();
  for (const Key<T>& key : keys) {
    ScreenJsonValue schema = key.schema();
    if (!key.text.empty()) schema["description"] = key.text;
    properties[std::string(key.name)] = std::move(schema);
    required.push_back(key.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}
template <typename T>
ScreenJsonValue ListSchema(std::span<const Key<T>> keys) {
  return {{"type", "array"}, {"items", ObjectSchema(keys)}};
}
ScreenJsonValue OrNull(ScreenJsonValue schema) {
  schema["type"] = {schema["type"], "null"};
  return schema;
}

constexpr Key<GpuFact> kGpuKeys[] = {
    KeyOf<&GpuFact::name, GpuFact>("name", ""),
    KeyOf<&GpuFact::count, GpuFact>("count", ""),
    KeyOf<&GpuFact::taken, GpuFact>("assumed", "the file does not name it"),
};

constexpr std::string_view kSources[] = {"unknown", "run", "marked", "repetition"};

constexpr Key<StepFacts::LeftOut> kLeftOutKeys[] = {
    KeyOf<&StepFacts::LeftOut::state, StepFacts::LeftOut>("state", ""),
    KeyOf<&StepFacts::LeftOut::count, StepFacts::LeftOut>("count", ""),
    KeyOf<&StepFacts::LeftOut::step, StepFacts::LeftOut>("first_step", ""),
    KeyOf<&StepFacts::LeftOut::longest_ns, StepFacts::LeftOut>("longest_ns", ""),
};

constexpr Key<StepFacts> kStepKeys[] = {
    {"source", "how steps are known: unknown, run (none are marked), marked or repetition",
     [](const StepFacts& steps) {
       return ScreenJsonValue(kSources[static_cast<size_t>(steps.source)]);
     },
     [] {
       return ScreenJsonValue{{"enum", kSources}};
     }},
    KeyOf<&StepFacts::steady, StepFacts>("steady", "steps that the means are over"),
    KeyOf<&StepFacts::median_ns, StepFacts>("median_ns", ""),
    KeyOf<&StepFacts::shortest_ns, StepFacts>("shortest_ns", ""),
    KeyOf<&StepFacts::longest_ns, StepFacts>("longest_ns", ""),
    KeyOf<&StepFacts::host_median_ns, StepFacts>("host_median_ns", "likewise on the host"),
    {"left_out", "steps that the means leave out",
     [](const StepFacts& steps) { return ListOf(All(kLeftOutKeys), steps.left_out); },
     [] { return ListSchema(All(kLeftOutKeys)); }},
    KeyOf<&StepFacts::outside, StepFacts>("outside", "how much of the run is in no step, if much"),
    KeyOf<&StepFacts::proposal, StepFacts>("proposal", "what --step could take"),
    KeyOf<&StepFacts::phase, StepFacts>("phase", "of the steps of a server"),
};

constexpr Key<TimePart> kPartKeys[] = {
    KeyOf<&TimePart::name, TimePart>("name", ""),
    KeyOf<&TimePart::time_ns, TimePart>("time_ns", "in the mean step"),
    KeyOf<&TimePart::share_pct, TimePart>("share_pct", ""),
};

constexpr Key<StepTime> kTimeKeys[] = {
    KeyOf<&StepTime::total_ns, StepTime>("total_ns", "the mean step, or the run"),
    KeyOf<&StepTime::cold_ns, StepTime>("cold_ns", "a run's cold start, not in total_ns"),
    KeyOf<&StepTime::end_ns, StepTime>("end_ns", "what follows a run's last work, likewise"),
    {"parts", "they add up to total_ns; largest first",
     [](const StepTime& time) { return ListOf(All(kPartKeys), time.parts); },
     [] { return ListSchema(All(kPartKeys)); }},
    KeyOf<&StepTime::busy_pct, StepTime>("busy_pct", "of the GPU"),
    KeyOf<&StepTime::mfu_pct, StepTime>(
        "mfu_pct", "of products that ran; a lower bound unless known.flops_pct is 100"),
    KeyOf<&StepTime::communication_pct, StepTime>("communication_pct", "only communication runs"),
};

constexpr Key<IdleTime> kIdleKeys[] = {
    KeyOf<&IdleTime::cause, IdleTime>("cause", ""),
    KeyOf<&IdleTime::share_pct, IdleTime>("share_pct", ""),
};

constexpr Key<GpuUse> kUseKeys[] = {
    KeyOf<&GpuUse::rank, GpuUse>("rank", ""),
    KeyOf<&GpuUse::device, GpuUse>("device", ""),
    KeyOf<&GpuUse::sm_efficiency_pct, GpuUse>("sm_efficiency_pct", "over the recording"),
    KeyOf<&GpuUse::achieved_occupancy_pct, GpuUse>("achieved_occupancy_pct", "likewise"),
    KeyOf<&GpuUse::tc_least_pct, GpuUse>("tc_least_pct", "time with Tensor Cores, at least"),
    KeyOf<&GpuUse::tc_known_pct, GpuUse>("tc_known_pct", "time of which that is known"),
    KeyOf<&GpuUse::idle_pct, GpuUse>("idle_pct", "of the steps that the mean is over"),
    {"idle", "by cause, largest first",
     [](const GpuUse& use) { return ListOf(All(kIdleKeys), use.causes); },
     [] { return ListSchema(All(kIdleKeys)); }},
};

constexpr Key<Cost> kCostKeys[] = {
    KeyOf<&Cost::name, Cost>("name", "null: no op is known"),
    KeyOf<&Cost::kernels, Cost>("kernels", ""),
    KeyOf<&Cost::alike, Cost>("alike", "layers whose names differ only in numbers"),
    KeyOf<&Cost::largest, Cost>("largest", "the layer with most time; a kernel's main op"),
    KeyOf<&Cost::total_ns, Cost>("total_ns", ""),
    KeyOf<&Cost::communication_ns, Cost>("communication_ns", "not in total_ns"),
    KeyOf<&Cost::share_pct, Cost>("share_pct", "of the time of all kernels"),
    KeyOf<&Cost::tflops, Cost>("tflops", "10^12 FLOP/s, where most time has known FLOPs"),
    KeyOf<&Cost::gbps, Cost>("gbps", "likewise"),
    KeyOf<&Cost::tc_pct, Cost>("tc_pct", "time with Tensor Cores"),
    KeyOf<&Cost::bound, Cost>("bound", "math, dram, latency or mixed"),
    KeyOf<&Cost::roof_pct, Cost>("roof_pct", "of the nearer roof"),
};

constexpr Key<Costs> kCostsKeys[] = {
    {"rows", "largest first", [](const Costs& costs) { return ListOf(All(kCostKeys), costs.rows); },
     [] { return ListSchema(All(kCostKeys)); }},
    {"collectives", "all of them, in the table of layers",
     [](const Costs& costs) {
       return costs.collectives ? ObjectOf(All(kCostKeys), *costs.collectives) : ScreenJsonValue();
     },
     [] { return OrNull(ObjectSchema(All(kCostKeys))); }},
    KeyOf<&Costs::others, Costs>("others", "rows that are not here"),
    KeyOf<&Costs::others_pct, Costs>("others_pct", "their share"),
};

constexpr Key<RankTime> kRankKeys[] = {
    KeyOf<&RankTime::rank, RankTime>("rank", ""),
    KeyOf<&RankTime::total_ns, RankTime>("total_ns", ""),
    KeyOf<&RankTime::compute_ns, RankTime>("compute_ns", ""),
    KeyOf<&RankTime::communication_ns, RankTime>("communication_ns", "not overlapped"),
    KeyOf<&RankTime::wait_ns, RankTime>("wait_ns", "in collectives for other ranks"),
};

constexpr Key<ModelFacts::Use> kModelUseKeys[] = {
    KeyOf<&ModelFacts::Use::convention, ModelFacts::Use>("convention", ""),
    KeyOf<&ModelFacts::Use::mfu_pct, ModelFacts::Use>("mfu_pct", ""),
};

constexpr Key<ModelFacts> kModelKeys[] = {
    KeyOf<&ModelFacts::types, ModelFacts>("types", "of the products that ran"),
    KeyOf<&ModelFacts::peak_tflops, ModelFacts>("peak_tflops", "dense, of these types"),
    KeyOf<&ModelFacts::token_flops, ModelFacts>("token_flops", ""),
    {"uses", "by convention, with --model",
     [](const ModelFacts& model) { return ListOf(All(kModelUseKeys), model.uses); },
     [] { return ListSchema(All(kModelUseKeys)); }},
    KeyOf<&ModelFacts::difference_pct, ModelFacts>("difference_pct",
                                                   "kernels' FLOPs against the configuration's"),
    KeyOf<&ModelFacts::why, ModelFacts>("why", ""),
    KeyOf<&ModelFacts::missing, ModelFacts>("missing", "why no convention has a figure"),
};

constexpr Key<CulpritFact> kCulpritKeys[] = {
    KeyOf<&CulpritFact::who, CulpritFact>("who", "rank, node, group or link"),
    KeyOf<&CulpritFact::cause, CulpritFact>("cause", ""),
    KeyOf<&CulpritFact::what, CulpritFact>("what", "more of the cause"),
    KeyOf<&CulpritFact::often, CulpritFact>("often", "since when, or in which steps"),
    KeyOf<&CulpritFact::cost_ns, CulpritFact>("cost_ns", "of the run, a step"),
    KeyOf<&CulpritFact::cost_pct, CulpritFact>("cost_pct", "of the step"),
    KeyOf<&CulpritFact::tested, CulpritFact>("tested", "over steps; false: too few of them"),
};

constexpr Key<LossFact> kLossKeys[] = {
    KeyOf<&LossFact::loss, LossFact>("loss", ""),
    KeyOf<&LossFact::rank, LossFact>("rank", ""),
    KeyOf<&LossFact::count, LossFact>("count", ""),
    KeyOf<&LossFact::share_pct, LossFact>("share_pct", "of GPU time"),
    KeyOf<&LossFact::why, LossFact>("why", ""),
    KeyOf<&LossFact::mend, LossFact>("mend", "how to record more"),
};

constexpr Key<GapFact> kGapKeys[] = {
    KeyOf<&GapFact::raises, GapFact>("raises", ""),
    KeyOf<&GapFact::share_pct, GapFact>("share_pct", ""),
    KeyOf<&GapFact::remedy, GapFact>("remedy", ""),
};

constexpr Key<NextCommand> kNextKeys[] = {
    KeyOf<&NextCommand::command, NextCommand>("command", "of oplens, without files"),
    KeyOf<&NextCommand::why, NextCommand>("why", ""),
};

ScreenJsonValue KnownOf(const Screen& screen) {
  ScreenJsonValue known;
  known["op_pct"] = ValueOf(screen.op_known_pct);
  known["flops_pct"] = ValueOf(screen.flops_known_pct);
  known["flops_by_launch_pct"] = screen.flops_by_launch_pct;
  ScreenJsonValue& by = known["op_by_pct"] = ScreenJsonValue::object();
  for (const Evidence evidence : kEvidences) {
    by[std::string(EvidenceWord(evidence))] = screen.OpBy(evidence);
  }
  return known;
}

ScreenJsonValue KnownSchema() {
  ScreenJsonValue properties;
  properties["op_pct"] = TypeSchema("number", true);
  properties["flops_pct"] = TypeSchema("number", true);
  properties["flops_by_launch_pct"] = TypeSchema("number", false);
  properties["op_by_pct"] = {{"type", "object"},
                             {"additionalProperties", TypeSchema("number", false)}};
  return {{"type", "object"},
          {"properties", properties},
          {"required", {"op_pct", "flops_pct", "flops_by_launch_pct", "op_by_pct"}}};
}

constexpr size_t kMostNext = 5;

constexpr Key<Screen> kScreenKeys[] = {
    {"schema", "raised when a key changes its meaning or type, or goes",
     [](const Screen&) { return ScreenJsonValue(kScreenSchema); },
     [] {
       return ScreenJsonValue{{"const", kScreenSchema}};
     }},
    KeyOf<&Screen::inputs, Screen>("inputs", "as they were named"),
    KeyOf<&Screen::lost, Screen>("lost", "what was not read, and why"),
    KeyOf<&Screen::profilers, Screen>("profilers", ""),
    {"gpus", "", [](const Screen& screen) { return ListOf(All(kGpuKeys), screen.gpus); },
     [] { return ListSchema(All(kGpuKeys)); }},
    KeyOf<&Screen::runs, Screen>("runs", "profiles that were read"),
    KeyOf<&Screen::are_ranks, Screen>("are_ranks", "each of them names its rank"),
    KeyOf<&Screen::one_run, Screen>("one_run",
                                    "false: they are not of one run, so sums mean nothing"),
    KeyOf<&Screen::selected, Screen>("selected", "only a part of the run was looked at"),
    KeyOf<&Screen::of_summaries, Screen>("of_summaries", "only ranks and culprits are known"),
    KeyOf<&Screen::kernels, Screen>("kernels", ""),
    KeyOf<&Screen::replays, Screen>("replays", "of graphs whose kernels are not in the file"),
    KeyOf<&Screen::replay_pct, Screen>("replay_pct", "their share of kernel_ns, at most"),
    KeyOf<&Screen::kernel_ns, Screen>("kernel_ns", "of all kernels and replays"),
    {"known", "of kernel time", KnownOf, KnownSchema},
    KeyOf<&Screen::span_busy_pct, Screen>("span_busy_pct",
                                          "of the GPU between its first and last work"),
    KeyOf<&Screen::verdict, Screen>("verdict", "what takes most time that could be saved"),
    KeyOf<&Screen::verdict_command, Screen>("verdict_command", "of oplens, that shows it"),
    KeyOf<&Screen::shown_rank, Screen>("shown_rank", "whose step and GPU are shown"),
    {"steps", "", [](const Screen& screen) { return ObjectOf(All(kStepKeys), screen.steps); },
     [] { return ObjectSchema(All(kStepKeys)); }},
    {"time", "",
     [](const Screen& screen) {
       return screen.time ? ObjectOf(All(kTimeKeys), *screen.time) : ScreenJsonValue();
     },
     [] { return OrNull(ObjectSchema(All(kTimeKeys))); }},
    {"gpu", "the busiest of the shown rank",
     [](const Screen& screen) {
       return screen.gpu ? ObjectOf(All(kUseKeys), *screen.gpu) : ScreenJsonValue();
     },
     [] { return OrNull(ObjectSchema(All(kUseKeys))); }},
    {"model", "", [](const Screen& screen) { return ObjectOf(All(kModelKeys), screen.model); },
     [] { return ObjectSchema(All(kModelKeys)); }},
    {"ranks", "by descending computation time",
     [](const Screen& screen) { return ListOf(All(kRankKeys), screen.ranks); },
     [] { return ListSchema(All(kRankKeys)); }},
    {"culprits", "the costliest first",
     [](const Screen& screen) { return ListOf(All(kCulpritKeys), screen.culprits); },
     [] { return ListSchema(All(kCulpritKeys)); }},
    KeyOf<&Screen::slowest_by_pct, Screen>(
        "slowest_by_pct", "by how much the first computes longer than the median rank"),
    KeyOf<&Screen::missed_tc_pct, Screen>("missed_tc_pct",
                                          "products that could use Tensor Cores and do not"),
    {"layers", "", [](const Screen& screen) { return ObjectOf(All(kCostsKeys), screen.layers); },
     [] { return ObjectSchema(All(kCostsKeys)); }},
    {"ops", "", [](const Screen& screen) { return ObjectOf(All(kCostsKeys), screen.ops); },
     [] { return ObjectSchema(All(kCostsKeys)); }},
    {"kernel_names", "",
     [](const Screen& screen) { return ObjectOf(All(kCostsKeys), screen.kernel_names); },
     [] { return ObjectSchema(All(kCostsKeys)); }},
    {"losses", "largest first",
     [](const Screen& screen) { return ListOf(All(kLossKeys), screen.losses); },
     [] { return ListSchema(All(kLossKeys)); }},
    KeyOf<&Screen::more_losses, Screen>("more_losses", "that are not here"),
    {"gap", "what a remedy would tell more of",
     [](const Screen& screen) {
       return screen.gap ? ObjectOf(All(kGapKeys), *screen.gap) : ScreenJsonValue();
     },
     [] { return OrNull(ObjectSchema(All(kGapKeys))); }},
    {"next", "what to type next",
     [](const Screen& screen) { return ListOf(All(kNextKeys), NextCommands(screen, kMostNext)); },
     [] { return ListSchema(All(kNextKeys)); }},
};

}  // namespace

nlohmann::ordered_json JsonOf(const Screen& screen) { return ObjectOf(All(kScreenKeys), screen); }

std::string JsonTextOf(const Screen& screen) {
  return JsonOf(screen).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json ScreenSchema() {
  ScreenJsonValue schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                            {"title", "oplens --json FILE"}};
  schema.update(ObjectSchema(All(kScreenKeys)));
  return schema;
}

}  // namespace oplens::screen
