#ifndef OPLENS_PROF_PRICE_ALL_H_
#define OPLENS_PROF_PRICE_ALL_H_

#include "ops/rules/rules.h"
#include "parse/model/evidence_kinds.h"
#include "parse/model/messages.h"
#include "parse/model/reason.h"
#include "prof/input/record_source.h"
#include "prof/price/kernel_sink.h"
#include "prof/price/nested_calls.h"
#include "prof/price/op_resolver.h"
#include "prof/range_patterns.h"
#include "prof/views/recording/coverage.h"
#include "prof/views/streams/utilisation.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

struct PriceOptions {
  OpChoice op_choice = OpChoice::kInner;
  RangeFilter* filter = nullptr;  ///< Null: every kernel is kept.
  StepFinder* steps = nullptr;    ///< Null: steps from the records.
  /// GPU of all kernels; null: from their records.
  const ops::Gpu* gpu = nullptr;
  const ops::Rules* rules = nullptr;  ///< The user's; null for none.
  EvidenceKinds evidence = {};        ///< What may tell more than the ranges around a launch.
  /// Peak rate (dense FLOP/s) of a row's GPU for its product's data type, 0 if unknown. Null: model
  /// FLOPs utilisation is not reported.
  double (*peak_of)(const PricedKernel& row) = nullptr;
  /// Further filter of the kernels that `filter` keeps; null: all.
  ItemFilter<PricedKernel>* where = nullptr;
  /// Receives figures of all kernels and advice; null: they become notes.
  Messages* messages = nullptr;
  /// Whether prices are shown; otherwise no figures of them and no reasons for unknown prices are
  /// reported.
  bool shows_prices = true;
};

struct PricingReport {
  Coverage coverage;
  Utilisation utilisation;
  int64_t kernels = 0;  ///< Shown kernels
  int64_t replays = 0;  ///< and replays;
  int64_t priced = 0;   ///< kernels of known FLOPs.
  RuleMisfits misfits;  ///< Of all kernels, shown or not.

  void Merge(const PricingReport& other);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->coverage, &self->utilisation, &self->misfits);
    bytes->Counts(&self->kernels, &self->replays, &self->priced);
  }
};

/// Prices all records of a source and passes those that the filters keep to `sink`, in order.
/// Inputs and ranks do not affect each other. Counts reasons in `diagnostics` and adds notes about
/// all kernels. Returns the number of kernels and replays shown. Throws Error if memory runs out.
int64_t PriceAll(RecordSource* records, const PriceOptions& options, KernelSink* sink,
                 Diagnostics* diagnostics);
/// As PriceAll() for some inputs of a run: adds to `told` instead of reporting.
void PriceSome(RecordSource* records, const PriceOptions& options, KernelSink* sink,
               Diagnostics* diagnostics, PricingReport* told);
/// Reports what became of all kernels, and which of the user's rules do not fit.
void ReportPrices(const PricingReport& told, const PriceOptions& options, Diagnostics* diagnostics);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ALL_H_
