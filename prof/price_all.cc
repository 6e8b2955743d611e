#include "prof/price_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shortage.h"
#include "base/shown_text.h"
#include "base/staged_work.h"
#include "base/team.h"
#include "base/threads.h"
#include "prof/price/launch_estimate.h"
#include "prof/price/op_namer.h"
#include "prof/price/row_pool.h"
#include "prof/price/row_queue.h"
#include "prof/resolved_rows.h"
#include "prof/run/block_order.h"
#include "prof/run/stream_sizes.h"

namespace oplens::prof {
namespace {

/// parse counts these by range; here only the kernels inside are known.
bool IsOfRanges(Reason reason) {
  return reason == Reason::kOpenRange || reason == Reason::kLeakedRange;
}

/// The best name of a case: the op, the kernel or the row.
std::string ExampleOf(Reason reason, const PricedKernel& row) {
  std::string_view text;
  switch (reason) {
    case Reason::kUnknownOp:
    case Reason::kUnsupportedArgs:
    case Reason::kShapeMismatch:
    case Reason::kUnknownDType:
    case Reason::kCostOverflow:
    case Reason::kNoForwardMatch:
    case Reason::kAmbiguousForward:
    case Reason::kWinograd:
    case Reason::kCache:
    case Reason::kClock:
      text = row.op;
      break;
    case Reason::kUnknownRole:
      text = row.record->short_name;
      break;
    default:
      break;
  }
  return text.empty() ? fmt::format("row {}", row.index) : ShownText(text);
}

/// Reports what a reader of the rows must know.
void Need(std::string sentence, const PriceOptions& options, Diagnostics* diagnostics) {
  if (options.messages == nullptr) {
    diagnostics->Note(std::move(sentence));
  } else {
    options.messages->Need(std::move(sentence));
  }
}

/// Rows of a batch: enough for threads to share, and of some hundred kB.
constexpr size_t kBatch = 512;

/// Reads each name once.
class CachedNames : public NameReader {
 public:
  explicit CachedNames(const ops::Rules* rules) : kernels_(&epochs_, rules) {}

  ops::NamedFamily FamilyOf(std::string_view name) override { return kernels_.Of(name)->family(); }
  std::string OpOf(std::string_view name) override { return kernels_.Of(name)->named_op(1).op; }
  ops::LaunchRule LaunchOf(std::string_view name) override {
    return kernels_.Of(name)->launch_rule();
  }

 private:
  Epochs epochs_;
  KernelFactsCache kernels_;
};

/// Estimates by the launches of a profile's streams.
class ProfileEstimator : public LaunchEstimator {
 public:
  explicit ProfileEstimator(NameReader* names) : names_(names) {}

  /// The next kernels are of this profile, or of records if it is null.
  void Restart(const parse::KernelRecords* profile) {
    profile_ = profile;
    sizes_.reset();
  }

  /// Makes beforehand what the first kernel that asks would have to wait for.
  void Prepare() { sizes_.emplace(*profile_, names_); }

 private:
  std::optional<ops::Bounds> ElementsBeside(const PricedKernel& row) override {
    if (profile_ == nullptr || row.work == PricedKernel::kNoWork) return std::nullopt;
    if (!sizes_) sizes_.emplace(*profile_, names_);
    return sizes_->ElementsOf(row.work);
  }

  NameReader* names_;
  const parse::KernelRecords* profile_ = nullptr;
  std::optional<StreamSizes> sizes_;  // Made when first asked.
};

/// Work goes through stages: ops are found (ResolvedRows); costs are shared, and rows given to the
/// sink in order (here); each lane of a sink that holds rows looks at them. Batches for such a sink
/// are carried through all stages by a team of threads.
class Pricer {
 public:
  Pricer(RecordSource* records, const PriceOptions& options, KernelSink* sink,
         Diagnostics* diagnostics, PricingReport* told)
      : options_(options),
        records_(records),
        resolved_(options.op_choice, options.gpu, options.rules, records,
                  options.rules == nullptr ? nullptr : &told->misfits, diagnostics),
        sink_(sink),
        diagnostics_(diagnostics),
        told_(told) {}

  void PriceAll() {
    Begin();
    while (true) {
      const Batch::End end = lanes_ > 0 ? TakeInStages() : TakeNext();
      if (end == Batch::End::kEnd) break;
      Follow(end);
    }
    Finish();
  }

 private:
  using Batch = ResolvedRows::Batch;

  /// What one thread carries, in cache lines of its own.
  struct alignas(128) Load {
    Batch batch;
    std::vector<std::unique_ptr<WaitingRow>> given;  // To the sink, which holds them:
    KernelSink::HeldRows held;
  };

  /// The next record, or what comes before it.
  Batch::End TakeNext() {
    Load& load = loads_.front();
    resolved_.Fill(1, &load.batch);
    Take(&load);
    return load.batch.end;
  }

  /// All records up to what else comes.
  Batch::End TakeInStages() {
    const auto others = static_cast<size_t>(std::max(ThreadLimit() - 1, 0));
    const size_t places = 1 + std::min(others, 1 + lanes_);
    if (team_ == nullptr) team_ = std::make_unique<Team>(places - 1);
    while (loads_.size() < places) loads_.emplace_back();
    bool ended = false;
    Batch::End end = Batch::End::kNone;
    DoInStages(team_.get(), places,
               {.begin =
                    [&](size_t place) {
                      if (ended) return false;
                      Batch& batch = loads_[place].batch;
                      resolved_.Fill(kBatch, &batch);
                      ended = batch.end != Batch::End::kNone || batch.failure;
                      return true;
                    },
                .stages = 1 + lanes_,
                .go_on =
                    [&](size_t place, size_t stage) {
                      Load& load = loads_[place];
                      if (stage == 0) {
                        Take(&load);
                        end = load.batch.end;
                        sink_->TakeHeld(&load.held);
                      } else {
                        Look(stage - 1, &load);
                      }
                      return true;
                    }});
    return end;
  }

  /// Gives the rows that are complete with those of a batch to the sink.
  void Take(Load* load) {
    load_ = load;
    Batch& batch = load->batch;
    if (batch.has_records) LookAtSource(batch);
    for (std::unique_ptr<WaitingRow>& row : batch.rows) Take(std::move(row));
    batch.rows.clear();
    if (batch.failure) std::rethrow_exception(batch.failure);
  }

  void Look(size_t lane, Load* load) {
    sink_->Look(lane, load->held);
    if (lane + 1 == lanes_) load->batch.spare.RecycleAll(&load->given);
  }

  void LookAtSource(const Batch& batch) {
    if (!in_input_) BeginInput(nullptr);
    count_reasons_ = !batch.counts_reasons;
    family_ = batch.family;
  }

  /// What comes after a batch.
  void Follow(Batch::End end) {
    switch (end) {
      case Batch::End::kInput:
        return BeginInput(records_->profile());
      case Batch::End::kEndOfInput:
        Begin();
        EndInput();
        EndReport();
        if (options_.steps != nullptr) options_.steps->Restart();
        return;
      case Batch::End::kRank:
        return Begin();
      case Batch::End::kNone:
      case Batch::End::kEnd:
        return;
    }
  }

  void BeginInput(const parse::KernelRecords* profile) {
    in_input_ = true;
    if (options_.evidence.order && profile != nullptr) blocks_ = BlockOrder(*profile, &names_);
    estimator_.Restart(profile);
    const bool beside = options_.evidence.sizes && profile != nullptr && ThreadLimit() > 1 &&
                        StreamSizes::AreSoonAsked(*profile, &names_);
    Team one(beside ? 1 : 0);
    one.Begin(beside ? 1 : 0, [this](size_t) { estimator_.Prepare(); });
    sink_->BeginInput(profile);
    one.Join();
    lanes_ = sink_->Lanes();
  }

  void EndInput() {
    if (in_input_) sink_->EndInput();
    in_input_ = false;
    lanes_ = 0;
    blocks_ = {};
    estimator_.Restart(nullptr);
  }

  void EndReport() {
    told_->coverage.EndInput();
    told_->utilisation.EndInput();
  }

  /// Writes waiting rows, and forgets everything that could link to later ones.
  void Begin() {
    Drain();
    namer_.Restart();
    queue_ = std::make_unique<RowQueue>(queue_ != nullptr ? queue_->instance_count() : 0);
    resolved_.Restart();
  }

  void Drain() {
    if (queue_ == nullptr) return;
    while (auto row = queue_->PopFirst()) Write(std::move(row));
    if (lanes_ == 0) return;
    sink_->TakeHeld(&load_->held);
    for (size_t lane = 0; lane < lanes_; ++lane) Look(lane, load_);
  }

  void Take(std::unique_ptr<WaitingRow> row) {
    if (row->row.replay) {
      queue_->PushReplay(std::move(row));
    } else {
      queue_->Push(std::move(row));
    }
    while (auto ready = queue_->PopReady()) Write(std::move(ready));
  }

  void Recycle(std::unique_ptr<WaitingRow> row) { load_->batch.spare.Recycle(std::move(row)); }

  /// After the sink was given the row.
  void EndTurn(std::unique_ptr<WaitingRow> row) {
    if (lanes_ == 0) return Recycle(std::move(row));
    load_->given.push_back(std::move(row));
  }

  void Write(std::unique_ptr<WaitingRow> waiting) {
    if (options_.evidence.name) namer_.Name(&waiting->row);
    PlaceInBlock(&waiting->row);
    if (options_.evidence.sizes) Estimate(waiting.get());
    // The filter needs the profile's own step.
    const bool kept = options_.filter == nullptr || options_.filter->Keeps(waiting->row);
    if (options_.steps != nullptr) {
      waiting->record.step = options_.steps->StepOf(waiting->row);
    }
    waiting->record.step = sink_->StepOf(waiting->row, waiting->record.step);
    if (!kept) return Recycle(std::move(waiting));
    if (waiting->row.replay) {
      AddReplay(waiting->row);
      return EndTurn(std::move(waiting));
    }
    PricedKernel& row = waiting->row;
    row.reasons.Merge(ExcessOf(row));
    if (options_.where != nullptr && !options_.where->Keeps(row)) {
      return Recycle(std::move(waiting));
    }
    ++told_->kernels;
    if (row.share.flops) ++told_->priced;
    told_->coverage.Add(row, family_);
    if (options_.peak_of != nullptr) told_->utilisation.Add(row, options_.peak_of(row));
    row.reasons.ForEach([&](Reason reason) {
      const bool of_record = row.record->reasons.Has(reason);
      if (of_record ? count_reasons_ : options_.shows_prices) CountReason(reason, row);
    });
    sink_->Add(row);
    EndTurn(std::move(waiting));
  }

  void Estimate(WaitingRow* waiting) {
    estimator_.Estimate(&waiting->row);
    if (waiting->row.sizes_by_launch) waiting->estimate_pin = estimator_.pin();
  }

  void PlaceInBlock(PricedKernel* row) const {
    if (!row->layer.empty() || row->work == PricedKernel::kNoWork || row->replay) return;
    row->layer = blocks_.LayerOf(row->work);
    row->layer_by_order = !row->layer.empty();
  }

  void AddReplay(const PricedKernel& row) {
    if (options_.where != nullptr && !options_.where->Matches(row)) return;
    told_->coverage.AddReplay(*row.record);
    if (options_.peak_of != nullptr) told_->utilisation.AddReplay(*row.record);
    if (sink_->AddReplay(row)) ++told_->replays;
  }

  void CountReason(Reason reason, const PricedKernel& row) {
    if (IsOfRanges(reason)) return;
    if (!diagnostics_->KeepsExample(reason)) return diagnostics_->CountMany(reason, 1);
    std::string example = ExampleOf(reason, row);
    for (const std::string& known : diagnostics_->ExamplesOf(reason)) {
      if (known == example) example.clear();
    }
    diagnostics_->Count(reason, std::move(example));
  }

  void NotePatterns() {
    const auto note = [this](std::vector<std::string> notes) {
      for (std::string& sentence : notes) diagnostics_->Note(std::move(sentence));
    };
    if (options_.filter != nullptr) note(options_.filter->Notes());
    if (options_.steps != nullptr) note(options_.steps->Notes());
  }

  void Finish() {
    Drain();
    if (in_input_) sink_->EndLastInput();
    in_input_ = false;
    EndReport();
    NotePatterns();
    if (options_.where != nullptr) {
      Need(options_.where->count().Sentence("kernels"), options_, diagnostics_);
    }
  }

  PriceOptions options_;
  RecordSource* records_;
  ResolvedRows resolved_;
  std::unique_ptr<RowQueue> queue_;  // For one rank.
  OpNamer namer_;
  CachedNames names_{options_.rules};
  // Of the current input.
  BlockOrder blocks_;
  ProfileEstimator estimator_{&names_};
  KernelSink* sink_;
  Diagnostics* diagnostics_;
  PricingReport* told_;
  Family family_ = Family::kUnknown;  // Of the current input.
  bool count_reasons_ = true;
  bool in_input_ = false;
  size_t lanes_ = 0;  // Of the sink, for the current input.
  std::deque<Load> loads_{1};
  Load* load_ = &loads_.front();  // Whose rows are taken.
  std::unique_ptr<Team> team_;    // Made for the first sink with lanes.
};

}  // namespace

void PricingReport::Merge(const PricingReport& other) {
  coverage.Merge(other.coverage);
  utilisation.Merge(other.utilisation);
  kernels += other.kernels;
  replays += other.replays;
  priced += other.priced;
  misfits.Merge(other.misfits);
}

void PriceSome(RecordSource* records, const PriceOptions& options, KernelSink* sink,
               Diagnostics* diagnostics, PricingReport* told) {
  try {
    Pricer(records, options, sink, diagnostics, told).PriceAll();
  } catch (const std::bad_alloc&) {
    const std::string_view name = records->name();
    if (name.empty()) throw;
    throw NoMemory(name);
  }
}

void ReportPrices(const PricingReport& told, const PriceOptions& options,
                  Diagnostics* diagnostics) {
  if (options.rules != nullptr) {
    for (std::string& sentence : told.misfits.Sentences(*options.rules)) {
      Need(std::move(sentence), options, diagnostics);
    }
  }
  if (!options.shows_prices) return;
  const auto tell = [&](std::string sentence) {
    if (options.messages == nullptr) {
      diagnostics->Note(std::move(sentence));
    } else {
      options.messages->Tell(std::move(sentence));
    }
  };
  if (told.kernels > 0) {
    tell(fmt::format("FLOPs are known for {} of {} kernels", told.priced, told.kernels));
  }
  const std::vector<std::string> facts = told.coverage.Facts();
  // Utilisation before the shares, which are the longest sentence.
  for (size_t i = 0; i + 1 < facts.size(); ++i) tell(facts[i]);
  for (std::string& sentence : told.utilisation.Sentences()) tell(std::move(sentence));
  if (!facts.empty()) tell(facts.back());
  for (const Coverage::Gap& gap : told.coverage.Gaps()) {
    if (options.messages == nullptr) {
      diagnostics->Note(gap.Sentence());
    } else {
      options.messages->Advise(gap.Sentence(), gap.share_pct);
    }
  }
}

int64_t PriceAll(RecordSource* records, const PriceOptions& options, KernelSink* sink,
                 Diagnostics* diagnostics) {
  PricingReport told;
  PriceSome(records, options, sink, diagnostics, &told);
  ReportPrices(told, options, diagnostics);
  return told.kernels + told.replays;
}

}  // namespace oplens::prof
