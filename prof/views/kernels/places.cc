#include "prof/views/kernels/places.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "base/sums.h"
#include "ops/kernels/tensor_core.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
#include "prof/run/text_numbers.h"
#include "prof/views/common/bounded_groups.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kPlacesOther = "(other)";

// Texts of a place, then the rank.
enum PlacesPlaceText : size_t {
  kPlaceLayer,
  kPlaceOp,
  kPlaceDir,
  kPlaceShape,
  kPlaceWork,
  kPlaceKernel,
  kPlaceTexts,
  kPlaceRank = kPlaceTexts
};

constexpr std::string_view kPlacesKeys[] = {"step", "rank"};

struct KnownSum {
  int64_t value = -1;  ///< Negative: no value is known.

  void Merge(const KnownSum& other) {
    if (other.value >= 0) value = SaturatingSum(std::max<int64_t>(value, 0), other.value);
  }
  Cell ToCell() const { return value < 0 ? Cell{} : Cell{value}; }
};

struct PlacesSums {
  Count count;
  Sum time_ns;
  Sum tc_ns;
  Sum tc_known_ns;
  KnownSum flops;
  KnownSum bytes;
  Min start_ns;
  Sum inferred_ns;
};

struct PlacesRow {
  std::array<std::string_view, kPlaceTexts + 1> texts;
  std::optional<int64_t> step;
  const PlacesSums& sums;
};

constexpr Column<PlacesRow> kPlacesColumns[] = {
    TextColumn<kPlaceLayer>{
        "layer", "Layer", Field::kShared,
        "layers around the call, outermost first; in the backward pass those of the forward op"},
    TextColumn<kPlaceOp>{"op", "Op", 20, "op that launched it; for copies and memsets their kind"},
    TextColumn<kPlaceDir>{"dir", "Direction", 9, "fprop (forward) or bprop (backward)"},
    TextColumn<kPlaceShape>{"shape", "Shape", Field::kShared,
                            "extents of the tensors among the op's arguments"},
    TextColumn<kPlaceWork>{"work", "Work", 13,
                           "compute, communication, copy, fill or replay (of a graph)"},
    TextColumn<kPlaceKernel, false, kName>{"kernel", "Kernel", Field::kShared,
                                           "full name of the kernel"},
    TextColumn<kPlaceRank, true>{"rank", "Rank", 6, "rank of the process"},
    {{"step", "Step", "", kInteger, 6, "number of the step that launched it", Fold::kKey},
     [](const PlacesRow& row) { return Integer(row.step); },
     Need::kNothing,
     true},
    FigureColumn<&PlacesSums::count>{"count", "Count", "", 8, "how often it ran"},
    FigureColumn<&PlacesSums::time_ns>{"time_ns", "Time(ns)", "ns", 13, "sum of its durations"},
    FigureColumn<&PlacesSums::tc_ns>{"tc_ns", "TC(ns)", "ns", 13,
                                     "part of time_ns in kernels that use Tensor Cores"},
    FigureColumn<&PlacesSums::tc_known_ns>{
        "tc_known_ns", "TCKnown(ns)", "ns", 13,
        "part of time_ns in kernels for which that use is known"},
    {{"flops", "FLOPs", "FLOP", kInteger, 18, "sum over its kernels whose FLOPs are known",
      Fold::kSum},
     [](const PlacesRow& row) { return row.sums.flops.ToCell(); }},
    {{"bytes", "Bytes", "B", kInteger, 16, "sum over its kernels whose bytes are known",
      Fold::kSum},
     [](const PlacesRow& row) { return row.sums.bytes.ToCell(); }},
    {AsRatio({"tc_pct", "TC(%)", "%", kDecimal, 8, "tc_ns / tc_known_ns * 100"},
             {"tc_ns", "tc_known_ns", 100}),
     PercentOf<&PlacesSums::tc_ns, &PlacesSums::tc_known_ns>},
    {{"start_ns", "Start(ns)", "ns", kInteger, 13,
      "earliest start of an execution, from the start of its step", Fold::kMin},
     [](const PlacesRow& row) {
       const int64_t start_ns = row.sums.start_ns.value;
       return start_ns == INT64_MAX ? Cell{} : Cell{start_ns};
     }},
    {OnRequest({"inferred_ns", "Inferred(ns)", "ns", kInteger, 13,
                "part of time_ns in kernels whose op is inferred, not recorded", Fold::kSum}),
     [](const PlacesRow& row) { return CellOf(row.sums.inferred_ns); }},
    {OnRequest(
         AsRatio({"inferred_pct", "Inferred(%)", "%", kDecimal, 11, "inferred_ns / time_ns * 100"},
                 {"inferred_ns", "time_ns", 100})),
     PercentOf<&PlacesSums::inferred_ns, &PlacesSums::time_ns>},
    {OnRequest({"comm_ns", "Comm(ns)", "ns", kInteger, 13, "part of time_ns in communication",
                Fold::kSum}),
     [](const PlacesRow& row) {
       const bool communicates = row.texts[kPlaceWork] == kCommunicationWork;
       return communicates ? CellOf(row.sums.time_ns) : Integer(0);
     }},
};

std::string_view WorkWord(WorkClass work) {
  switch (work) {
    case WorkClass::kCompute:
      return kComputeWork;
    case WorkClass::kCommunication:
      return kCommunicationWork;
    case WorkClass::kCopy:
      return kCopyWork;
    case WorkClass::kFill:
      return kFillWork;
    case WorkClass::kReplay:
      return kReplayWork;
  }
  return {};
}

class PlacesView : public Partial {
 public:
  explicit PlacesView(const ViewOptions& options)
      : words_("places", options, kPlacesKeys),
        columns_(words_.Of(std::span<const Column<PlacesRow>>(kPlacesColumns))),
        by_step_(words_.Has("step")),
        by_rank_(words_.Has("rank")) {}

  void Save(ByteWriter* bytes) const override;
  void Load(ByteReader* bytes) override;

  void Begin(const Run* run) override {
    run_ = run;
    rank_ = texts_.NumberOf(run == nullptr ? std::string_view() : run->rank());
  }
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override { return FieldsOf(columns_); }
  void Emit(Sink* sink) const override;

 private:
  using Place = std::array<uint32_t, kPlaceTexts>;  // Numbers of texts.
  struct When {
    uint32_t rank = 0;
    bool has_step = false;
    int64_t step = 0;
    friend auto operator<=>(const When&, const When&) = default;
  };
  struct Entry {
    When when;
    PlacesSums sums;
  };
  struct PlaceHash {
    size_t operator()(const Place& place) const {
      uint64_t hash = 0;
      for (const uint32_t text : place) hash = MixHash(hash, text);
      return hash;
    }
  };

  When WhenOf(std::optional<int64_t> step) const {
    return {by_rank_ ? rank_ : 0, by_step_ && step.has_value(), by_step_ ? step.value_or(0) : 0};
  }
  void AddSums(Place place, const When& when, const PlacesSums& sums);
  /// By text, so that the order of inputs has no effect.
  std::vector<const std::pair<const Place, uint32_t>*> SortedPlaces() const;
  /// The entries of a place by When, without duplicates.
  std::vector<Entry> EntriesOf(uint32_t place) const;
  void AddEvent(const DeviceEvent& event, std::string_view name);
  uint32_t LayerOf(std::span<const std::string_view> layer);
  /// The current run's step number of an event, and the time since that step began.
  std::optional<int64_t> StepOf(const DeviceEvent& event, int64_t* since_ns) const;

  ByWords words_;
  Columns<PlacesRow> columns_;
  bool by_step_;
  bool by_rank_;
  TextNumbers texts_;
  BoundedGroups<std::vector<Entry>, std::unordered_map<Place, uint32_t, PlaceHash>> places_;
  // Of the current run:
  const Run* run_ = nullptr;
  uint32_t rank_ = 0;
  std::string layer_;  // Scratch.
};

uint32_t PlacesView::LayerOf(std::span<const std::string_view> layer) {
  if (layer.size() == 1) return texts_.NumberOf(layer.front());
  layer_.clear();
  for (const std::string_view part : layer) {
    if (!layer_.empty()) layer_ += ':';
    layer_ += part;
  }
  return texts_.NumberOf(layer_);
}

std::optional<int64_t> PlacesView::StepOf(const DeviceEvent& event, int64_t* since_ns) const {
  const size_t step = run_->steps().OfEvent(event);
  if (step == Steps::kNone) return std::nullopt;
  const Step& of = run_->steps().all()[step];
  *since_ns = SaturatingDifference(event.start_ns, of.span.start_ns);
  return of.number;
}

void PlacesView::AddSums(Place place, const When& when, const PlacesSums& sums) {
  uint32_t number = places_.NumberOf(place, 0);
  if (number == places_.kOther) {
    place = {};
    place[kPlaceOp] = texts_.NumberOf(kPlacesOther);
    number = places_.MadeNumberOf(place);
  }
  std::vector<Entry>& entries = places_[number];
  // Kernels mostly come step by step.
  for (size_t i = entries.size(); i > 0 && i + 4 > entries.size(); --i) {
    if (entries[i - 1].when == when) return MergeInto(&entries[i - 1].sums, sums);
  }
  entries.push_back({when, sums});
}

void PlacesView::Add(const PricedKernel& kernel) {
  const KernelRecord& record = *kernel.record;
  PlacesSums sums;
  sums.count = 1;
  std::optional<int64_t> step = record.step;
  WorkClass work = WorkClass::kCompute;
  if (run_ != nullptr && kernel.work != PricedKernel::kNoWork) {
    const Kernel& own = run_->trace().kernels[kernel.work];
    work =
        run_->work().IsCommunication(kernel.work) ? WorkClass::kCommunication : WorkClass::kCompute;
    int64_t since_ns = INT64_MAX;
    step = StepOf({own.start_ns, own.end_ns, kernel.work, own.device_id, own.stream_id, work},
                  &since_ns);
    if (record.timed()) sums.start_ns.Add(since_ns);
  } else if (kernel.facts != nullptr && kernel.facts->communicates()) {
    work = WorkClass::kCommunication;
  }
  if (record.timed()) {
    sums.time_ns = record.duration_ns;
    const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
    if (use != ops::TensorCoreUse::kUnknown) sums.tc_known_ns = record.duration_ns;
    if (use == ops::TensorCoreUse::kYes) sums.tc_ns = record.duration_ns;
    if (HasInferredOp(kernel)) sums.inferred_ns = record.duration_ns;
  }
  if (kernel.share.flops) sums.flops.value = *kernel.share.flops;
  if (kernel.share.bytes) sums.bytes.value = *kernel.share.bytes;
  if (run_ == nullptr && record.rank) rank_ = texts_.NumberOf(*record.rank);
  Place place;
  place[kPlaceLayer] = LayerOf(kernel.layer);
  place[kPlaceOp] = texts_.NumberOf(kernel.op);
  place[kPlaceDir] =
      IsDirectionKnown(kernel) ? texts_.NumberOf(DirectionWord(record.direction)) : uint32_t{0};
  place[kPlaceShape] = texts_.NumberOf(kernel.shapes);
  place[kPlaceWork] = texts_.NumberOf(WorkWord(work));
  place[kPlaceKernel] =
      texts_.NumberOf(record.long_name.empty() ? record.short_name : record.long_name);
  AddSums(place, WhenOf(step), sums);
}

void PlacesView::AddEvent(const DeviceEvent& event, std::string_view name) {
  Place place = {};
  place[kPlaceOp] = texts_.NumberOf(name);
  place[kPlaceWork] = texts_.NumberOf(WorkWord(event.work));
  PlacesSums sums;
  sums.count = 1;
  sums.time_ns = event.duration_ns();
  int64_t since_ns = INT64_MAX;
  const std::optional<int64_t> step = StepOf(event, &since_ns);
  sums.start_ns.Add(since_ns);
  AddSums(place, WhenOf(step), sums);
}

void PlacesView::End(const Run* run) {
  if (run != nullptr) {
    for (const DeviceEvent& event : run->work().events()) {
      if (event.work == WorkClass::kCopy) {
        AddEvent(event, CopyNameOf(run->trace().copies[event.index].copy_kind));
      } else if (event.work == WorkClass::kFill) {
        AddEvent(event, kFillName);
      } else if (event.work == WorkClass::kReplay) {
        AddEvent(event, "(graph replay)");
      }
    }
  }
  run_ = nullptr;
}

void PlacesView::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const PlacesView&>(other);
  for (const auto& place : more.places_.all()) {
    Place own;
    for (size_t i = 0; i < own.size(); ++i) {
      own[i] = texts_.NumberOf(more.texts_.TextOf((*place.key)[i]));
    }
    for (const Entry& entry : place.sums) {
      When when = entry.when;
      when.rank = texts_.NumberOf(more.texts_.TextOf(when.rank));
      AddSums(own, when, entry.sums);
    }
  }
}

std::vector<PlacesView::Entry> PlacesView::EntriesOf(uint32_t place) const {
  std::vector<Entry> entries = places_[place];
  const auto key = [&](const Entry& entry) {
    return std::tuple(texts_.TextOf(entry.when.rank), entry.when.has_step, entry.when.step);
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  std::vector<Entry> once;
  for (const Entry& entry : entries) {
    if (once.empty() || once.back().when != entry.when) {
      once.push_back(entry);
    } else {
      MergeInto(&once.back().sums, entry.sums);
    }
  }
  return once;
}

std::vector<const std::pair<const PlacesView::Place, uint32_t>*> PlacesView::SortedPlaces() const {
  std::vector<const std::pair<const Place, uint32_t>*> places;
  for (const auto& place : places_.index()) places.push_back(&place);
  std::sort(places.begin(), places.end(), [&](const auto* a, const auto* b) {
    return std::lexicographical_compare(
        a->first.begin(), a->first.end(), b->first.begin(), b->first.end(),
        [&](uint32_t one, uint32_t other) { return texts_.TextOf(one) < texts_.TextOf(other); });
  });
  return places;
}

void PlacesView::Save(ByteWriter* bytes) const {
  bytes->Number(places_.size());
  for (const auto* place : SortedPlaces()) {
    for (const uint32_t text : place->first) bytes->Text(texts_.TextOf(text));
    const std::vector<Entry> entries = EntriesOf(place->second);
    bytes->Number(entries.size());
    int64_t step = 0;
    for (const Entry& entry : entries) {
      bytes->Text(texts_.TextOf(entry.when.rank));
      bytes->Values(&entry.when.has_step);
      bytes->Near(&entry.when.step, step);
      bytes->Values(&entry.sums);
      step = entry.when.step;
    }
  }
}

void PlacesView::Load(ByteReader* bytes) {
  for (size_t left = bytes->Size(kPlaceTexts + 1); left > 0; --left) {
    Place place;
    for (uint32_t& text : place) text = texts_.NumberOf(bytes->Text());
    int64_t step = 0;
    for (size_t entries = bytes->Size(4); entries > 0; --entries) {
      Entry entry;
      entry.when.rank = texts_.NumberOf(bytes->Text());
      bytes->Values(&entry.when.has_step);
      bytes->Near(&entry.when.step, step);
      bytes->Values(&entry.sums);
      step = entry.when.step;
      AddSums(place, entry.when, entry.sums);
    }
  }
}

void PlacesView::Emit(Sink* sink) const {
  struct Row {
    const Place* place;
    When when;
    PlacesSums sums;
  };
  std::vector<Row> rows;
  for (const auto& [place, number] : places_.index()) {
    for (const Entry& entry : EntriesOf(number)) rows.push_back({&place, entry.when, entry.sums});
  }
  const auto before = [&](const Row& a, const Row& b) {
    if (a.sums.time_ns != b.sums.time_ns) return a.sums.time_ns > b.sums.time_ns;
    for (size_t i = 0; i < kPlaceTexts; ++i) {
      if ((*a.place)[i] == (*b.place)[i]) continue;
      return texts_.TextOf((*a.place)[i]) < texts_.TextOf((*b.place)[i]);
    }
    if (a.when.rank != b.when.rank) {
      return texts_.TextOf(a.when.rank) < texts_.TextOf(b.when.rank);
    }
    return a.when < b.when;
  };
  std::sort(rows.begin(), rows.end(), before);
  TableOf<PlacesRow> table(columns_, sink);
  for (const Row& row : rows) {
    PlacesRow shown = {{}, {}, row.sums};
    for (size_t i = 0; i < kPlaceTexts; ++i) shown.texts[i] = texts_.TextOf((*row.place)[i]);
    shown.texts[kPlaceRank] = texts_.TextOf(row.when.rank);
    if (row.when.has_step) shown.step = row.when.step;
    table.Add(shown);
  }
}

}  // namespace

extern constexpr View kPlacesView = {
    .name = "places",
    .help = "what each call of each layer ran on the GPU: kernels, copies and memsets",
    .fields = FieldsWithoutBy<kPlacesColumns>,
    .make = MakePartial<PlacesView>,
    .by = kPlacesKeys,
    .narrow = "count,time_ns,tc_pct",
    .important = "op,kernel,time_ns,count,layer,dir,tc_pct,shape",
    .of_ranks = true,
    .saved_form = 1};

}  // namespace oplens::prof
