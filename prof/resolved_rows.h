#ifndef OPLENS_PROF_RESOLVED_ROWS_H_
#define OPLENS_PROF_RESOLVED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "prof/input/record_source.h"
#include "prof/price/op_resolver.h"
#include "prof/price/row_pool.h"

namespace oplens::prof {

/// The records of a source with their ops, in order and in batches, so that one thread can find
/// the ops of a batch while another works on the one before. One thread at a time may ask.
class ResolvedRows {
 public:
  struct Batch {
    /// What comes after the rows.
    enum class End : uint8_t {
      kNone,        ///< More of them, perhaps.
      kRank,        ///< Rows of another rank: call Restart().
      kInput,       ///< Another input.
      kEndOfInput,  ///< As RecordSource::Step.
      kEnd,
    };
    /// Kernels, and replays (PricedKernel::replay) without a resolution; of one rank.
    std::vector<std::unique_ptr<WaitingRow>> rows;
    End end = End::kNone;
    bool has_records = false;  ///< Good or bad; if there are:
    Family family = Family::kUnknown;
    bool counts_reasons = false;  ///< RecordSource::counts_reasons().
    std::exception_ptr failure;   ///< In place of what comes after the rows.
    RowPool spare;                ///< For rows.
  };

  /// All must outlive this object; `misfits` may be null.
  ResolvedRows(OpChoice choice, const ops::Gpu* gpu, const ops::Rules* rules, RecordSource* records,
               RuleMisfits* misfits, Diagnostics* diagnostics);

  /// Later rows cannot link to earlier ones. What rows point to is freed.
  void Restart();
  /// The next rows, at most `most`. Before the first call, Restart().
  void Fill(size_t most, Batch* batch);

 private:
  /// As Fill(); throws.
  Batch::End Read(size_t most, Batch* batch);
  bool IsOfAnotherRank(const WaitingRow& row);
  void Add(std::unique_ptr<WaitingRow> row, Batch* batch);

  OpChoice choice_;
  const ops::Gpu* gpu_;
  const ops::Rules* rules_;
  RecordSource* records_;
  RuleMisfits* misfits_;
  Diagnostics* diagnostics_;
  std::unique_ptr<OpResolver> resolver_;  // For one rank.
  std::string rank_;
  std::unique_ptr<WaitingRow> first_;  // Of another rank than the rows before it.
  int64_t index_ = 0;                  // Of the last record, good or bad.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RESOLVED_ROWS_H_
