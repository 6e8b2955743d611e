#ifndef OPLENS_PROF_PRICE_ALL_H_
#define OPLENS_PROF_PRICE_ALL_H_

#include "ops/rules/rules.h"
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

/// How kernels are priced, and which are kept.
struct PriceOptions {
  OpChoice op_choice = OpChoice::kInner;
  RangeFilter* filter = nullptr;  ///< Null: every kernel is kept.
  StepFinder* steps = nullptr;    ///< Null: steps are those of the records.
  /// That all kernels ran on, whatever their records say; null: what each record says.
  const ops::Gpu* gpu = nullptr;
  const ops::Rules* rules = nullptr;  ///< Of the user; null for none.
  /// The peak rate (FLOP/s, dense) of the GPU of a row for the data type of its product, 0 where it
  /// is not known: for the model FLOPs utilisation. Null: that is not told.
  double (*peak_of)(const PricedKernel& row) = nullptr;
  /// Of the kernels that the filter keeps, those that are kept; null: all.
  ItemFilter<PricedKernel>* where = nullptr;
  /// Where figures of all kernels and advice go; null: they are notes like all others.
  Messages* messages = nullptr;
  /// Whether prices are shown: else no figures of them are told, and no reasons why some are
  /// unknown.
  bool shows_prices = true;
};

/// What there is to say of the kernels that were priced.
struct PricingTold {
  Coverage coverage;
  Utilisation utilisation;
  int64_t kernels = 0;  ///< That were shown,
  int64_t replays = 0;  ///< and replays;
  int64_t priced = 0;   ///< kernels whose FLOPs are known.
  RuleMisfits misfits;  ///< Of all kernels, shown or not.

  /// Adds that of other inputs.
  void Merge(const PricingTold& other);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->coverage, &self->utilisation, &self->misfits);
    bytes->Counts(&self->kernels, &self->replays, &self->priced);
  }
};

/// Takes all records of a source, prices them, and gives each to `sink` in the same order, but for
/// those that the filter does not keep. Nothing of one input or rank has an effect on another's.
/// Reasons of kernels are counted in `diagnostics`; what became of them all is said in its notes.
/// Answers the number of kernels and of replays that were shown. Throws Error where there is too
/// little memory.
int64_t PriceAll(RecordSource* records, const PriceOptions& options, KernelSink* sink,
                 Diagnostics* diagnostics);
/// The same of some inputs of a run: what became of all kernels is not said, but added to `told`.
void PriceSome(RecordSource* records, const PriceOptions& options, KernelSink* sink,
               Diagnostics* diagnostics, PricingTold* told);
/// Says what became of all kernels, and which rules of the user do not fit.
void TellPrices(const PricingTold& told, const PriceOptions& options, Diagnostics* diagnostics);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ALL_H_
