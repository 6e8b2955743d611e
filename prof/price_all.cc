#include "prof/price_all.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shown_text.h"
#include "prof/price/op_resolver.h"
#include "prof/price/row_queue.h"
#include "prof/views/coverage.h"
#include "prof/views/utilisation.h"

namespace oplens::prof {
namespace {

/// parse counts these by range; here there are only the kernels inside.
bool IsOfRanges(Reason reason) {
  return reason == Reason::kOpenRange || reason == Reason::kLeakedRange;
}

/// What names a case best: the op, the kernel or the row.
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

class Pricer {
 public:
  Pricer(const PriceOptions& options, KernelSink* sink, Diagnostics* diagnostics)
      : options_(options), sink_(sink), diagnostics_(diagnostics) {}

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
        coverage_.EndInput();
        utilisation_.EndInput();
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

  int64_t row_count() const { return row_count_ + shown_replays_; }

 private:
  void BeginInput(const parse::KernelRecords* profile) {
    in_input_ = true;
    sink_->BeginInput(profile);
  }

  void EndInput() {
    if (in_input_) sink_->EndInput();
    in_input_ = false;
  }

  /// Gives away what waits, and forgets everything that could link to what comes.
  void Begin() {
    Drain();
    queue_ = std::make_unique<RowQueue>(queue_ != nullptr ? queue_->instance_count() : 0);
    resolver_ = std::make_unique<OpResolver>(options_.op_choice, options_.gpu, options_.rules);
  }

  void Drain() {
    if (queue_ == nullptr) return;
    while (auto row = queue_->PopFirst()) Write(std::move(row));
  }

  /// What waits is written before the row that begins another rank is resolved.
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
    // The filter asks for the profile's own step.
    const bool kept = options_.filter == nullptr || options_.filter->Keeps(waiting->row);
    if (options_.steps != nullptr) {
      waiting->record.step = options_.steps->StepOf(waiting->row);
    }
    waiting->record.step = sink_->StepOf(waiting->row, waiting->record.step);
    if (!kept) return queue_->Recycle(std::move(waiting));
    if (waiting->row.replay) {
      AddReplay(waiting->row);
      return queue_->Recycle(std::move(waiting));
    }
    PricedKernel& row = waiting->row;
    row.reasons.Merge(ExcessOf(row));
    if (options_.where != nullptr && !options_.where->Keeps(row)) {
      return queue_->Recycle(std::move(waiting));
    }
    ++row_count_;
    if (row.share.flops) ++priced_count_;
    coverage_.Add(row, family_);
    if (options_.peak_of != nullptr) utilisation_.Add(row, options_.peak_of(row));
    row.reasons.ForEach([&](Reason reason) {
      const bool of_record = row.record->reasons.Has(reason);
      if (of_record ? count_reasons_ : options_.shows_prices) CountReason(reason, row);
    });
    sink_->Add(row);
    queue_->Recycle(std::move(waiting));
  }

  void AddReplay(const PricedKernel& row) {
    if (options_.where != nullptr && !options_.where->Matches(row)) return;
    coverage_.AddReplay(*row.record);
    if (options_.peak_of != nullptr) utilisation_.AddReplay(*row.record);
    if (sink_->AddReplay(row)) ++shown_replays_;
  }

  void CountReason(Reason reason, const PricedKernel& row) {
    if (IsOfRanges(reason)) return;
    if (!diagnostics_->WantsExample(reason)) return diagnostics_->CountMany(reason, 1);
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
    NotePatterns();
    if (options_.where != nullptr) TellMatches();
    if (options_.shows_prices) TellPrices();
  }

  void TellMatches() {
    std::string sentence = options_.where->count().Sentence("kernels");
    if (options_.messages == nullptr) {
      diagnostics_->Note(std::move(sentence));
    } else {
      options_.messages->Need(std::move(sentence));
    }
  }

  void TellPrices() {
    if (row_count_ > 0) {
      Tell(fmt::format("FLOPs are known for {} of {} kernels", priced_count_, row_count_));
    }
    const std::vector<std::string> facts = coverage_.Facts();
    // The utilisation before the shares, which are the longest of all.
    for (size_t i = 0; i + 1 < facts.size(); ++i) Tell(facts[i]);
    for (std::string& sentence : utilisation_.Sentences()) Tell(std::move(sentence));
    if (!facts.empty()) Tell(facts.back());
    for (const Coverage::Gap& gap : coverage_.Gaps()) {
      if (options_.messages == nullptr) {
        diagnostics_->Note(gap.Sentence());
      } else {
        options_.messages->Advise(gap.Sentence(), gap.share_pct);
      }
    }
  }

  void Tell(std::string sentence) {
    if (options_.messages == nullptr) {
      diagnostics_->Note(std::move(sentence));
    } else {
      options_.messages->Tell(std::move(sentence));
    }
  }

  PriceOptions options_;
  std::unique_ptr<OpResolver> resolver_;  // Of one rank.
  std::unique_ptr<RowQueue> queue_;
  KernelSink* sink_;
  Diagnostics* diagnostics_;
  Coverage coverage_;
  Utilisation utilisation_;
  std::string rank_;
  Family family_ = Family::kUnknown;  // Of the input.
  int64_t index_ = 0;                 // Of the last record, good or bad.
  int64_t row_count_ = 0;
  int64_t priced_count_ = 0;
  int64_t shown_replays_ = 0;
  bool count_reasons_ = true;
  bool in_input_ = false;
};

}  // namespace

int64_t PriceAll(RecordSource* records, const PriceOptions& options, KernelSink* sink,
                 Diagnostics* diagnostics) {
  Pricer pricer(options, sink, diagnostics);
  pricer.TakeAll(records);
  return pricer.row_count();
}

}  // namespace oplens::prof
