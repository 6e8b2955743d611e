#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "parse/model/recording_advice.h"
#include "prof/views/call_places.h"
#include "prof/views/kernel_prices.h"
#include "prof/views/operator_fields.h"
#include "prof/views/operator_run.h"
#include "prof/views/operator_sums.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kUnattributedName = "(unattributed)";
constexpr std::string_view kOperatorsCollectives = "(collectives)";
constexpr std::string_view kOperatorsOtherName = "(other)";

/// What several partials make their sums of, between Begin of the first and End of the last.
struct OperatorInput {
  struct OfRun {
    explicit OfRun(const Run& run) : prices(run), places(run.joined(), run.calls()) {}

    KernelPrices prices;
    CallPlaces places;
  };

  void Begin(const Run& run) {
    if (begun++ == 0) of_run.emplace(run);
  }
  void End() {
    if (--begun == 0) of_run.reset();
  }

  std::optional<OfRun> of_run;
  size_t begun = 0;  // Of the partials.
};

class Operators : public SavedPartial<Operators> {
 public:
  /// `fills`: it is the one of those who share `input` that fills it.
  Operators(const ViewOptions& options, std::shared_ptr<OperatorInput> input, bool fills)
      : by_(OperatorKeysOf(options.by)), input_(std::move(input)), fills_(fills) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override {
    if (fills_ && input_->of_run) input_->of_run->prices.Add(kernel);
  }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  // Groups that come once there are so many, or their texts take so much, count in one more.
  static constexpr size_t kMaxGroups = size_t{1} << 20;
  static constexpr size_t kMaxKeyBytes = size_t{256} << 20;
  /// The texts of a row, each ended by a 0, and its step.
  struct Key {
    std::string_view texts;  // In texts_, once it is kept.
    std::optional<int64_t> step;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.texts, a.step) < std::tie(b.texts, b.step);
    }
  };
  struct Row {
    const Key* key;
    const OperatorSums* sums;
  };

  /// Its texts are those in `texts`.
  Key KeyOf(const Run& run, const OperatorRun& found, const OperatorRun::Slot& slot,
            std::string* texts) const;
  void AddTo(const Key& key, OperatorSums sums);
  bool IsBy(OperatorKey key) const { return std::find(by_.begin(), by_.end(), key) != by_.end(); }
  /// `folded`: takes the sums that are of several steps.
  std::vector<Row> Rows(std::deque<OperatorSums>* folded) const;
  void EmitRow(const Row& row, Sink* sink) const;

  std::vector<OperatorKey> by_;
  std::shared_ptr<OperatorInput> input_;
  bool fills_;
  std::set<std::string, std::less<>> texts_;  // Of the keys.
  std::map<Key, OperatorSums> groups_;
  size_t key_bytes_ = 0;
  int64_t ranks_without_trace_ = 0;
  std::map<Family, int64_t> ranks_without_calls_;
};

void Operators::Begin(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
    return;
  }
  input_->Begin(*run);
  if (run->calls().all().empty()) ++ranks_without_calls_[run->trace().family];
}

void Operators::End(const Run* run) {
  if (run == nullptr || !input_->of_run) return;
  OperatorRun found(*run, by_, input_->of_run->prices, &input_->of_run->places);
  std::string texts;
  found.TakeSlots([&](OperatorRun::Slot&& slot) {
    AddTo(KeyOf(*run, found, slot, &texts), std::move(slot.sums));
  });
  input_->End();
}

Operators::Key Operators::KeyOf(const Run& run, const OperatorRun& found,
                                const OperatorRun::Slot& slot, std::string* texts) const {
  std::vector<std::string_view> parts(found.text_count());
  if (slot.group == OperatorRun::kUnattributed) {
    parts[0] = kUnattributedName;
  } else if (slot.group == OperatorRun::kOfHooks) {
    parts[0] = kOperatorsCollectives;
  } else {
    parts = found.TextsOf(slot.group);
  }
  texts->clear();
  const auto append = [&](std::string_view text) {
    *texts += text;
    texts->push_back('\0');
  };
  append(parts[0]);
  size_t next = 1;
  for (const OperatorKey by : by_) {
    if (by == OperatorKey::kStep) continue;
    append(by == OperatorKey::kRank ? run.rank() : parts[next++]);
  }
  Key key = {*texts, {}};
  if (slot.step != Steps::kNone) key.step = run.steps().all()[slot.step].number;
  return key;
}

void Operators::AddTo(const Key& key, OperatorSums sums) {
  const auto at = groups_.find(key);
  if (at != groups_.end()) {
    at->second.Add(sums);
  } else if (groups_.size() < kMaxGroups && key_bytes_ < kMaxKeyBytes) {
    key_bytes_ += key.texts.size();
    auto texts = texts_.find(key.texts);
    if (texts == texts_.end()) texts = texts_.emplace(key.texts).first;
    groups_.emplace(Key{*texts, key.step}, std::move(sums));
  } else {
    groups_[Key{kOperatorsOtherName, {}}].Add(sums);
  }
}

void Operators::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Operators&>(other);
  for (const auto& [key, sums] : more.groups_) AddTo(key, sums);
  ranks_without_trace_ += more.ranks_without_trace_;
  for (const auto& [family, count] : more.ranks_without_calls_) {
    ranks_without_calls_[family] += count;
  }
}

template <typename Bytes, typename Self>
void Operators::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->ranks_without_trace_);
  bytes->Values(&self->ranks_without_calls_);
  if constexpr (Bytes::kReads) {
    for (size_t left = bytes->Size(); left > 0; --left) {
      std::string texts;
      Key key;
      OperatorSums sums;
      bytes->Texts(&texts);
      bytes->Values(&key.step, &sums);
      key.texts = texts;
      self->AddTo(key, std::move(sums));
    }
  } else {
    bytes->Number(self->groups_.size());
    for (const auto& [key, sums] : self->groups_) {
      bytes->Texts(&key.texts);
      bytes->Values(&key.step, &sums);
    }
  }
}

std::vector<Field> Operators::Fields() const {
  const std::span<const Field> all = OperatorsFields();
  std::vector<Field> fields = {all[0]};
  for (const OperatorKey key : by_) fields.push_back(FieldOf(key));
  fields.insert(fields.end(), all.begin() + 1, all.end());
  return fields;
}

std::vector<Operators::Row> Operators::Rows(std::deque<OperatorSums>* folded) const {
  std::vector<Row> rows;
  for (const auto& [key, sums] : groups_) {
    if (!rows.empty() && rows.back().key->texts == key.texts && !IsBy(OperatorKey::kStep)) {
      if (folded->empty() || rows.back().sums != &folded->back()) {
        folded->push_back(*rows.back().sums);
        rows.back().sums = &folded->back();
      }
      folded->back().Add(sums);
    } else {
      rows.push_back({&key, &sums});
    }
  }
  // Rows are by key: equal ones stay in that order.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.sums->self.device_ns, a.sums->host_self_ns) >
           std::pair(b.sums->self.device_ns, b.sums->host_self_ns);
  });
  return rows;
}

void Operators::Emit(Sink* sink) const {
  std::deque<OperatorSums> folded;
  for (const Row& row : Rows(&folded)) EmitRow(row, sink);
}

void Operators::EmitRow(const Row& row, Sink* sink) const {
  std::string_view texts = row.key->texts;
  const auto next_text = [&] {
    const std::string_view text = texts.substr(0, texts.find('\0'));
    texts.remove_prefix(std::min(text.size() + 1, texts.size()));
    return text;
  };
  std::vector<Cell> cells = {Text(next_text())};
  for (const OperatorKey key : by_) {
    cells.push_back(key == OperatorKey::kStep ? Integer(row.key->step) : Text(next_text()));
  }
  const OperatorSums& sums = *row.sums;
  const auto of_calls = [&](const Cell& cell) { return sums.calls == 0 ? Cell{} : cell; };
  const double mean =
      static_cast<double>(sums.length_ns) / static_cast<double>(std::max<int64_t>(sums.calls, 1));
  for (const Cell& cell : {
           Integer(sums.calls),
           Integer(sums.self.device_ns),
           Integer(sums.total.device_ns),
           Integer(sums.device_busy_ns),
           of_calls(Integer(sums.host_self_ns)),
           of_calls(Integer(sums.host_total_ns)),
           of_calls(Cell{mean}),
           Integer(sums.lengths.Quantile(50)),
           Integer(sums.lengths.Quantile(95)),
           Integer(sums.launches),
           sums.with_flops > 0 ? Integer(sums.flops.Value()) : Cell{},
           sums.with_bytes > 0 ? Integer(sums.bytes.Value()) : Cell{},
           Text(sums.total.Eligible()),
           Decimal(sums.self.TensorCorePercent()),
           Decimal(sums.total.TensorCorePercent()),
       }) {
    cells.push_back(cell);
  }
  sink->Row(cells);
}

std::vector<std::string> Operators::Notes() const {
  std::vector<std::string> notes;
  if (ranks_without_trace_ > 0) {
    notes.push_back(
        "operators: records say nothing of the calls of operators; give the profile itself");
  }
  for (const auto& [family, count] : ranks_without_calls_) {
    notes.push_back(fmt::format("operators: {} recorded no calls of operators; to record them: {}",
                                count == 1 ? "the profile" : "the profiles",
                                RecordingFlag(Lack::kOps, family)));
  }
  return notes;
}

std::vector<std::unique_ptr<Partial>> MakeOperatorsTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto input = std::make_shared<OperatorInput>();
  bool first = true;
  for (const ViewOptions& one : options) {
    partials.push_back(std::make_unique<Operators>(one, input, first));
    first = false;
  }
  return partials;
}

constexpr std::string_view kOperatorsKeys[] = {"shape", "layer", "stack", "phase", "step", "rank"};

}  // namespace

constexpr View kOperatorsView = {
    .name = "operators",
    .help = "what each operator cost on host and device",
    .fields = OperatorsFields,
    .make = MakeAlone<MakeOperatorsTogether>,
    .make_together = MakeOperatorsTogether,
    .by = kOperatorsKeys,
    .narrow = "calls,device_self_ns,host_self_ns,mean_ns,launches,tc_self_pct",
    .saved_form = 1};

}  // namespace oplens::prof
