#include "test/fuzz/summary_seeds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "prof/input/profile_records.h"
#include "prof/price_all.h"
#include "prof/summary_file/summary_sink.h"

namespace oplens::test {

void WriteSummarySeeds(const std::vector<std::string>& profiles,
                       const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<prof::ViewPlan> plans = prof::PlanSummaryViews("", "", true);
  for (const char* const by : {"layer,stack,shape", "op,grid", "edge", "time", "name"}) {
    for (prof::ViewPlan& plan : prof::PlanSummaryViews("", by, false)) {
      if (!plan.options.by.empty()) plans.push_back(std::move(plan));
    }
  }
  prof::Inputs inputs(profiles, {}, prof::NeedsOf(plans));
  prof::SummarySink sink(plans, {}, "/", prof::SummaryTexts::kOfRun);
  Diagnostics diagnostics;
  prof::PriceAll(&inputs, {}, &sink, &diagnostics);
  const prof::SummaryFile summary = sink.Take("0");
  size_t number = 0;
  for (const prof::Section& section : summary.sections) {
    std::ofstream(folder / std::to_string(++number), std::ios::binary)
        << section.view << ' ' << fmt::format("{}", fmt::join(section.by, ",")) << '\n'
        << section.bytes;
  }
  for (const char* const by : {"", "kind,group,rank"}) {
    std::ofstream(folder / fmt::format("calls{}", by), std::ios::binary) << "calls " << by << '\n'
                                                                         << summary.calls;
  }
  prof::WriteSummary(folder / "whole", summary);
}

}  // namespace oplens::test
