#include "prof/views/memory/memory_events.h"

#include <algorithm>
#include <tuple>

#include "base/saturating.h"
#include "parse/join/range_texts.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/table/columns.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

template <auto text>
Cell TextCell(const MemoryEventRows::ShownRow& shown) {
  return Text(shown.texts.TextOf(shown.row.*text));
}

template <auto time>
Cell TimeCell(const MemoryEventRows::ShownRow& shown) {
  const int64_t value = shown.row.*time;
  return value == MemoryEventRows::kNoTime ? Cell{} : Integer(value);
}

template <auto value>
Cell YesOrNo(const MemoryEventRows::ShownRow& shown) {
  const std::optional<bool>& known = shown.row.*value;
  return known ? Text(*known ? "yes" : "no") : Cell{};
}

using Row = MemoryEventRows::Row;
using ShownRow = MemoryEventRows::ShownRow;

constexpr Column<ShownRow> kMemoryEventsColumns[] = {
    {kRankField, TextCell<&Row::rank>},
    {kMemoryDeviceField, [](const ShownRow& shown) { return Text(shown.device); }},
    {kMemorySourceField,
     [](const ShownRow& shown) { return Text(MemorySourceWord(shown.row.source)); }},
    {{"op", "Op", "", FieldType::kText, Field::kShared,
      "innermost operator open on the thread when the memory was allocated", Fold::kKey},
     TextCell<&Row::op>},
    {{"around", "Around", "", FieldType::kText, Field::kShared, "the operator around that one",
      Fold::kKey},
     TextCell<&Row::around>},
    {{"layer", "Layer", "", FieldType::kText, Field::kShared, "layers around op, outermost first",
      Fold::kKey},
     TextCell<&Row::layer>},
    {{"stack", "Stack", "", FieldType::kText, Field::kShared, "call stack, outermost frame first",
      Fold::kKey},
     TextCell<&Row::stack>},
    {{"address", "Address", "", FieldType::kInteger, 16,
      "address of the first byte; negative from 2^63 on"},
     [](const ShownRow& shown) {
       return shown.row.address == 0 ? Cell{} : Integer(shown.row.address);
     }},
    {{"size_bytes", "Size(B)", "B", FieldType::kInteger, 13, "size of the piece of memory",
      Fold::kSum},
     [](const ShownRow& shown) { return Integer(shown.row.size_bytes); }},
    {{"alloc_ns", "Alloc(ns)", "ns", FieldType::kInteger, 15,
      "when it was allocated, from the first event of the rank", Fold::kMin},
     TimeCell<&Row::alloc_ns>},
    {{"free_ns", "Free(ns)", "ns", FieldType::kInteger, 15, "when it was freed", Fold::kMax},
     TimeCell<&Row::free_ns>},
    {{"duration_ns", "Life(ns)", "ns", FieldType::kInteger, 14, "free_ns - alloc_ns", Fold::kSum},
     [](const ShownRow& shown) {
       const auto& row = shown.row;
       const bool both =
           row.alloc_ns != MemoryEventRows::kNoTime && row.free_ns != MemoryEventRows::kNoTime;
       return both ? Integer(SaturatingDifference(row.free_ns, row.alloc_ns)) : Cell{};
     }},
    {kStepField, TimeCell<&Row::step>},
    {{"at_peak", "Peak", "", FieldType::kText, 5,
      "yes: it was live at the peak of its device and source", Fold::kKey},
     YesOrNo<&Row::at_peak>},
    {{"state", "State", "", FieldType::kText, 11,
      "freed; alive: at the end of the recording; only freed: allocated before the recording; "
      "lost: its address was allocated again; unknown: no address is recorded",
      Fold::kKey},
     [](const ShownRow& shown) { return Text(MemoryStateWord(shown.row.state)); }},
    {{"leak", "Leak", "", FieldType::kText, 5,
      "yes: it was live after the end of the step that allocated it and at the end of the "
      "recording",
      Fold::kKey},
     YesOrNo<&Row::leak>},
};

constexpr decltype(&Row::rank) kTexts[] = {&Row::rank, &Row::op, &Row::around, &Row::layer,
                                           &Row::stack};

class MemoryEvents : public MemoryEventRows {
 public:
  void End(const Run* run) override;

 private:
  /// Names and places of calls, as numbers of texts_.
  struct Places {
    std::vector<uint32_t> names;
    std::vector<uint32_t> layers;
    std::vector<uint32_t> stacks;
    std::vector<uint32_t> parents;  // By call: its parent, or kNone.
  };

  Places PlacesOf(const Run& run);
  void AddPieces(const Run& run, const MemoryLife::Pool& pool, const Places& places);
};

MemoryEvents::Places MemoryEvents::PlacesOf(const Run& run) {
  CallPlaces of_run(run.joined(), run.calls());
  Places places;
  places.names = of_run.Names();
  places.layers = of_run.Layers();
  places.stacks = of_run.Stacks();
  const parse::CallTree& tree = run.calls();
  places.parents.assign(tree.all().size(), parse::CallTree::kNone);
  for (ThreadIndex thread = 0; thread < run.trace().threads.size(); ++thread) {
    const size_t first = tree.BeginOf(thread);
    const auto calls = tree.Of(thread);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].parent == parse::CallTree::kNone) continue;
      places.parents[first + i] = static_cast<uint32_t>(first + calls[i].parent);
    }
  }
  // Only calls that own memory need a text.
  std::vector<bool> owns(tree.all().size(), false);
  for (const uint32_t owner : run.memory_owners()) {
    if (owner == parse::CallTree::kNone) continue;
    owns[owner] = true;
    const uint32_t around = places.parents[owner];
    if (around != parse::CallTree::kNone) owns[around] = true;
  }
  for (std::vector<uint32_t>* list : {&places.names, &places.layers, &places.stacks}) {
    for (size_t call = 0; call < list->size(); ++call) {
      uint32_t& number = (*list)[call];
      number = owns[call] ? texts_.NumberOf(of_run.texts().TextOf(number)) : 0;
    }
  }
  return places;
}

void MemoryEvents::AddPieces(const Run& run, const MemoryLife::Pool& pool, const Places& places) {
  const MemoryLife& memory = run.memory();
  const MemoryLeaks leaks(memory, run.steps());
  const int64_t peak = memory.PeakOf(pool, run.windows());
  const int64_t origin_ns = run.origin_ns();
  const auto time_of = [&](uint32_t place) { return memory.EventAt(place).time_ns; };
  for (const MemoryLife::Piece& piece : memory.PiecesOf(pool)) {
    const bool taken = piece.begin != MemoryLife::kNone;
    const uint32_t known = taken ? piece.begin : piece.end;
    if (!run.SelectsHost(time_of(known))) continue;
    Row row;
    row.rank = texts_.NumberOf(run.rank());
    row.device_id = pool.device_id;
    row.source = pool.source;
    row.state = piece.state;
    row.address = memory.EventAt(known).address;
    row.size_bytes = MemorySizeOf(memory.EventAt(known));
    row.leak = leaks.IsLeak(piece);
    if (piece.state != MemoryState::kUnknown && peak != MemoryLife::kNowhere) {
      row.at_peak = piece.LivesAt(peak);
    }
    if (piece.end != MemoryLife::kNone && piece.state != MemoryState::kLost) {
      row.free_ns = SaturatingDifference(time_of(piece.end), origin_ns);
    }
    if (taken) {
      row.alloc_ns = SaturatingDifference(time_of(piece.begin), origin_ns);
      const size_t step = run.steps().OfHost(time_of(piece.begin));
      if (step != Steps::kNone) row.step = run.steps().all()[step].number;
      const uint32_t owner = run.memory_owners()[memory.IndexAt(piece.begin)];
      if (owner != parse::CallTree::kNone) {
        row.op = places.names[owner];
        row.layer = places.layers[owner];
        row.stack = places.stacks[owner];
        const uint32_t around = places.parents[owner];
        if (around != parse::CallTree::kNone) row.around = places.names[around];
      }
    }
    AddRow(row);
  }
}

void MemoryEvents::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  notes_.Count(run->memory());
  const Places places = PlacesOf(*run);
  for (const MemoryLife::Pool& pool : run->memory().pools()) {
    if (run->SelectsDevice(pool.device_id)) AddPieces(*run, pool, places);
  }
}

}  // namespace

template <typename Bytes, typename Self>
void MemoryEventRows::Transfer(Bytes* bytes, Self* self) {
  bytes->Values(&self->notes_);
  if constexpr (Bytes::kReads) {
    for (size_t left = bytes->Size(14); left > 0; --left) self->rows_.emplace_back();
  } else {
    bytes->Number(self->rows_.size());
  }
  Row before;
  before.alloc_ns = 0;
  for (auto& row : self->rows_) {
    for (const auto text : kTexts) {
      if constexpr (Bytes::kReads) {
        row.*text = self->texts_.NumberOf(bytes->Text());
      } else {
        bytes->Text(self->texts_.TextOf(row.*text));
      }
    }
    bytes->Values(&row.device_id, &row.at_peak, &row.leak);
    bytes->Values(&row.source, &row.state);
    bytes->Near(&row.address, before.address);
    bytes->Values(&row.size_bytes);
    bytes->Near(&row.alloc_ns, before.alloc_ns);
    bytes->Near(&row.free_ns, row.alloc_ns);
    bytes->Values(&row.step);
    before = row;
  }
}

std::vector<Field> MemoryEventRows::Fields() const {
  return FieldsOf(std::span<const Column<ShownRow>>(kMemoryEventsColumns));
}

void MemoryEventRows::Save(ByteWriter* bytes) const { Transfer(bytes, this); }
void MemoryEventRows::Load(ByteReader* bytes) { Transfer(bytes, this); }

void MemoryEventRows::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const MemoryEventRows&>(other);
  rows_.reserve(rows_.size() + more.rows_.size());
  for (Row row : more.rows_) {
    for (const auto text : kTexts) {
      row.*text = texts_.NumberOf(more.texts_.TextOf(row.*text));
    }
    rows_.push_back(row);
  }
  notes_.Merge(more.notes_);
}

// By rank, device, source and time, then all other members, so that the order of merging has no
// effect.
bool MemoryEventRows::IsBefore(const Row& a, const Row& b) const {
  if (a.rank != b.rank) return RankBefore()(texts_.TextOf(a.rank), texts_.TextOf(b.rank));
  const auto numbers = [](const Row& row) {
    const int64_t known_ns = row.alloc_ns != kNoTime ? row.alloc_ns : row.free_ns;
    return std::tuple(row.device_id, row.source, known_ns, row.address, row.size_bytes,
                      row.alloc_ns, row.free_ns, row.state, row.step, row.at_peak, row.leak);
  };
  const auto a_numbers = numbers(a);
  const auto b_numbers = numbers(b);
  if (a_numbers != b_numbers) return a_numbers < b_numbers;
  for (const auto text : kTexts) {
    if (a.*text != b.*text) return texts_.TextOf(a.*text) < texts_.TextOf(b.*text);
  }
  return false;
}

void MemoryEventRows::Emit(Sink* sink) const {
  std::vector<const Row*> rows;
  rows.reserve(rows_.size());
  for (const Row& row : rows_) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [this](const Row* a, const Row* b) { return IsBefore(*a, *b); });
  TableOf<ShownRow> table(kMemoryEventsColumns, sink);
  for (const Row* row : rows) {
    const std::string device = MemoryDeviceName(row->device_id);
    table.Add({*row, texts_, device});
  }
}

extern constexpr View kMemoryEventsView = {
    .name = "memory-events",
    .help = "each piece of memory from its allocation to its release",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kMemoryEventsColumns>,
    .make = MakePartial<MemoryEvents>,
    .narrow = "op,size_bytes,alloc_ns,duration_ns,state,leak",
    .important = "op,size_bytes,alloc_ns,duration_ns,state,leak,device,layer",
    .saved_form = 1};

}  // namespace oplens::prof
