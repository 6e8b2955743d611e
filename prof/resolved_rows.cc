#include "prof/resolved_rows.h"

#include <string_view>
#include <utility>

namespace oplens::prof {

ResolvedRows::ResolvedRows(OpChoice choice, const ops::Gpu* gpu, const ops::Rules* rules,
                           RecordSource* records, RuleMisfits* misfits, Diagnostics* diagnostics)
    : choice_(choice),
      gpu_(gpu),
      rules_(rules),
      records_(records),
      misfits_(misfits),
      diagnostics_(diagnostics) {}

void ResolvedRows::Restart() {
  resolver_ = std::make_unique<OpResolver>(choice_, gpu_, rules_, misfits_);
}

void ResolvedRows::Fill(size_t most, Batch* batch) {
  batch->spare.RecycleAll(&batch->rows);
  batch->has_records = false;
  batch->failure = nullptr;
  try {
    batch->end = Read(most, batch);
  } catch (...) {
    batch->failure = std::current_exception();
  }
  batch->family = records_->family();
  batch->counts_reasons = records_->counts_reasons();
}

ResolvedRows::Batch::End ResolvedRows::Read(size_t most, Batch* batch) {
  using Step = RecordSource::Step;
  if (first_ != nullptr) Add(std::move(first_), batch);
  while (batch->rows.size() < most) {
    std::unique_ptr<WaitingRow> row = batch->spare.New();
    row->row.replay = false;
    switch (records_->Next(row.get(), diagnostics_)) {
      case Step::kInput:
        return Batch::End::kInput;
      case Step::kEndOfInput:
        return Batch::End::kEndOfInput;
      case Step::kEnd:
        return Batch::End::kEnd;
      case Step::kBad:
        batch->has_records = true;
        ++index_;
        batch->spare.Recycle(std::move(row));
        continue;
      case Step::kReplay:
        row->row.replay = true;
        break;
      case Step::kRecord:
        row->row.index = ++index_;
        break;
    }
    batch->has_records = true;
    if (IsOfAnotherRank(*row)) {
      first_ = std::move(row);
      return Batch::End::kRank;
    }
    Add(std::move(row), batch);
  }
  return Batch::End::kNone;
}

bool ResolvedRows::IsOfAnotherRank(const WaitingRow& row) {
  const std::string_view rank = row.record.rank.value_or(std::string_view());
  if (rank == rank_) return false;
  rank_ = rank;
  return true;
}

void ResolvedRows::Add(std::unique_ptr<WaitingRow> row, Batch* batch) {
  if (!row->row.replay) {
    row->resolution = resolver_->Resolve(row->record, &row->row, &row->outer);
  }
  batch->rows.push_back(std::move(row));
}

}  // namespace oplens::prof
