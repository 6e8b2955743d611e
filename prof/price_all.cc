#include "prof/price_all.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shortage.h"
#include "base/shown_text.h"
#include "prof/price/launch_estimate.h"
#include "prof/price/op_namer.h"
#include "prof/price/op_resolver.h"
#include "prof/price/row_queue.h"
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

/// Of rows that a sink holds: enough for threads to share, and of some hundred kB.
constexpr size_t kMostHeld = 512;

/// Reads each name once, with what is kept of kernels that are priced.
class CachedNames : public NameReader {
 public:
  explicit CachedNames(const std::unique_ptr<OpResolver>* resolver) : resolver_(*resolver) {}

  ops::NamedFamily FamilyOf(std::string_view name) override {
    return resolver_->FactsOf(name).family();
  }
  std::string OpOf(std::string_view name) override {
    return resolver_->FactsOf(name).named_op(1).op;
  }
  ops::LaunchRule LaunchOf(std::string_view name) override {
    return resolver_->FactsOf(name).launch_rule();
  }

 private:
  const std::unique_ptr<OpResolver>& resolver_;  // Of the current rank.
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

class Pricer {
 public:
  Pricer(const PriceOptions& options, KernelSink* sink, Diagnostics* diagnostics,
         PricingReport* told)
      : options_(options), sink_(sink), diagnostics_(diagnostics), told_(told) {}

  ~Pricer() {
    try {
      if (!seen_.empty()) sink_->Settle();  // After a failure, which is the one to be told.
    } catch (...) {
    }
  }
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;

  void TakeAll(RecordSource* records) {
    using Step = RecordSource::Step;
    Begin();
    while (true) {
      std::unique_ptr<WaitingRow> row = queue_->NewRow();
      const Step step = records->Next(row.get(), diagnostics_);
      if (step == Step::kEnd) break;
      if (step == Step::kInput) {
        BeginInput(records->profile());
        continue;
      }
      if (step == Step::kEndOfInput) {
        Begin();
        EndInput();
        EndReport();
        if (options_.steps != nullptr) options_.steps->Restart();
        continue;
      }
      if (!in_input_) BeginInput(nullptr);
      if (step == Step::kReplay) {
        BeginRankOf(*row);
        queue_->PushReplay(std::move(row));
        WriteReady();
        continue;
      }
      ++index_;
      if (step == Step::kBad) {
        queue_->Recycle(std::move(row));
        continue;
      }
      BeginRankOf(*row);
      count_reasons_ = !records->counts_reasons();
      family_ = records->family();
      row->row.index = index_;
      row->resolution = resolver_->Resolve(row->record, &row->row);
      queue_->Push(std::move(row));
      WriteReady();
    }
    Finish();
  }

 private:
  void BeginInput(const parse::KernelRecords* profile) {
    in_input_ = true;
    if (options_.evidence.order && profile != nullptr) blocks_ = BlockOrder(*profile, &names_);
    estimator_.Restart(profile);
    sink_->BeginInput(profile);
    holds_rows_ = sink_->HoldsRows();
  }

  void EndInput() {
    if (in_input_) sink_->EndInput();
    in_input_ = false;
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
    resolver_ = std::make_unique<OpResolver>(options_.op_choice, options_.gpu, options_.rules,
                                             options_.rules == nullptr ? nullptr : &told_->misfits);
  }

  void Drain() {
    if (queue_ == nullptr) return;
    while (auto row = queue_->PopFirst()) Write(std::move(row));
    Flush();
    if (!seen_.empty()) sink_->Settle();
    Recycle(&seen_);
  }

  /// Lets the sink look at the rows that it holds, and ends the turn of those that it looked at.
  void Flush() {
    if (held_.empty()) return;
    sink_->Flush();
    Recycle(&seen_);
    std::swap(held_, seen_);
  }

  void Recycle(std::vector<std::unique_ptr<WaitingRow>>* rows) {
    for (std::unique_ptr<WaitingRow>& row : *rows) queue_->Recycle(std::move(row));
    rows->clear();
  }

  /// After the sink was given the row.
  void EndTurn(std::unique_ptr<WaitingRow> row) {
    if (!holds_rows_) return queue_->Recycle(std::move(row));
    held_.push_back(std::move(row));
    if (held_.size() >= kMostHeld) Flush();
  }

  /// Writes waiting rows before the first row of another rank is resolved.
  void BeginRankOf(const WaitingRow& row) {
    const std::string_view rank = row.record.rank.value_or(std::string_view());
    if (rank == rank_) return;
    Begin();
    rank_ = rank;
  }

  void WriteReady() {
    while (auto ready = queue_->PopReady()) Write(std::move(ready));
  }

  void Write(std::unique_ptr<WaitingRow> waiting) {
    if (options_.evidence.name) namer_.Name(&waiting->row);
    PlaceInBlock(&waiting->row);
    if (options_.evidence.sizes) estimator_.Estimate(&waiting->row);
    // The filter needs the profile's own step.
    const bool kept = options_.filter == nullptr || options_.filter->Keeps(waiting->row);
    if (options_.steps != nullptr) {
      waiting->record.step = options_.steps->StepOf(waiting->row);
    }
    waiting->record.step = sink_->StepOf(waiting->row, waiting->record.step);
    if (!kept) return queue_->Recycle(std::move(waiting));
    if (waiting->row.replay) {
      AddReplay(waiting->row);
      return EndTurn(std::move(waiting));
    }
    PricedKernel& row = waiting->row;
    row.reasons.Merge(ExcessOf(row));
    if (options_.where != nullptr && !options_.where->Keeps(row)) {
      return queue_->Recycle(std::move(waiting));
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
  std::unique_ptr<OpResolver> resolver_;  // For one rank.
  std::unique_ptr<RowQueue> queue_;
  OpNamer namer_;
  CachedNames names_{&resolver_};
  // Of the current input.
  BlockOrder blocks_;
  ProfileEstimator estimator_{&names_};
  KernelSink* sink_;
  Diagnostics* diagnostics_;
  PricingReport* told_;
  std::string rank_;
  Family family_ = Family::kUnknown;  // Of the current input.
  int64_t index_ = 0;                 // Of the last record, good or bad.
  bool count_reasons_ = true;
  bool in_input_ = false;
  bool holds_rows_ = false;
  std::vector<std::unique_ptr<WaitingRow>> held_;  // By the sink, until Flush(),
  std::vector<std::unique_ptr<WaitingRow>> seen_;  // and those that it looks at now.
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
    Pricer(options, sink, diagnostics, told).TakeAll(records);
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
