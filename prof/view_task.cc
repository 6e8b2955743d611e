#include "prof/view_task.h"

#include <algorithm>

#include "base/run_files.h"
#include "prof/input/profile_records.h"

namespace oplens::prof {
namespace {

/// Whether a view has figures that follow from prices.
bool ShowsPrices(const ViewPlan& plan) {
  const std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
  return std::any_of(plan.places.begin(), plan.places.end(), [&](size_t place) {
    return fields[place].unit.starts_with("FLOP") || fields[place].unit.starts_with("TFLOP");
  });
}

}  // namespace

PriceOptions PriceOptionsOf(const Options& options, Messages* messages) {
  PriceOptions pricing = options.Pricing();
  pricing.messages = messages;
  pricing.op_choice = options.op_choice;
  pricing.filter = options.filter.get();
  pricing.where = options.where.kernels.get();
  // Of views that have no figures of prices nothing is said of these.
  const bool of_views = options.task != Task::kRows && options.task != Task::kCheck &&
                        options.task != Task::kTimeline;
  pricing.shows_prices =
      !of_views || std::any_of(options.views.begin(), options.views.end(), ShowsPrices);
  // Over the time between what is left here and there, the utilisation says nothing.
  if (pricing.where != nullptr) pricing.peak_of = nullptr;
  return pricing;
}

FindOptions FindOptionsOf(const Options& options, const PriceOptions& pricing) {
  FindOptions find;
  find.plans = &options.views;
  find.run = options.run;
  find.pricing = pricing;
  find.writer = OPLENS_VERSION;
  find.salt = options.many.salt;
  return find;
}

std::unique_ptr<Destination> OpenDestination(const Options& options) {
  std::string inputs;
  for (const std::string& input : options.inputs) {
    inputs += inputs.empty() ? input : "\n" + input;
  }
  return options.format->open(
      {options.format_value,
       options.output,
       {{"program", "oplens"}, {"version", OPLENS_VERSION}, {"inputs", inputs}},
       options.task == Task::kViews || options.task == Task::kDiff,
       options.header_keys,
       options.screen,
       options.to_terminal});
}

void RefuseOverwriting(const Options& options, const SummaryPaths& summaries) {
  RunFiles files = options.FilesRead();
  if (!options.diff_base.empty()) files.Read(FilesReadFor(options.diff_base), "the base");
  files.Read(summaries.read);
  for (const std::string& path : summaries.written) files.Write(path, "the summary");
  const Format& format = *options.format;
  if (options.task == Task::kBaseline) {
    files.Write(options.baseline, "--save-baseline");
  } else if (format.owns_file()) {
    files.Write(options.format_value, "--" + std::string(format.option));
  } else if (options.task != Task::kRankSummaries) {
    files.Write(options.output, "-o");
  }
  if (!options.gate.junit.empty()) files.Write(options.gate.junit, "--junit");
  files.RefuseOverwriting();
}

}  // namespace oplens::prof
