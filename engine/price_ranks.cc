#include "engine/price_ranks.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/staged_work.h"
#include "prof/findings.h"
#include "prof/options.h"
#include "prof/view_task.h"
#include "prof/views/run_views.h"

namespace oplens::engine {
namespace {

/// What was found in one rank.
struct Priced {
  std::vector<std::unique_ptr<prof::Partial>> partials;
  prof::CollectiveSet calls;
  prof::Findings report;  // Without results of views.
};

std::unique_ptr<Priced> PriceOne(prof::LoadedProfiles profile, const prof::Options& options,
                                 const prof::PriceOptions& pricing, WorkMeter* meter) {
  auto priced = std::make_unique<Priced>();
  prof::LoadedRecords records(profile, meter);
  prof::ViewRunner runner(options.views, options.run, nullptr);
  prof::PriceSome(&records, pricing, &runner, &priced->report.losses, &priced->report.told);
  priced->report.notes = runner.Notes();
  priced->partials = runner.TakePartials();
  priced->calls = runner.TakeCalls();
  return priced;
}

}  // namespace

bool CanPriceApart(prof::LoadedProfiles profiles, const prof::Options& options) {
  return profiles.size() > 1 && options.task == prof::Task::kViews &&
         prof::CanFindApart(prof::FindOptionsOf(options, nullptr));
}

void PriceApart(prof::LoadedProfiles profiles, const prof::Options& options,
                prof::ViewRunner* runner, Messages* messages, WorkMeter* meter) {
  const prof::PriceOptions pricing = prof::PriceOptionsOf(options, nullptr);
  prof::FindingsMerger merger(options.views, profiles.size(), nullptr);
  size_t next = 0;
  struct Piece {
    size_t profile = 0;
    std::unique_ptr<Priced> priced;
  };
  const size_t threads = std::min<size_t>(profiles.size(), options.many.jobs);
  DoInOrder<Piece>(
      threads < 2 ? 0 : threads - 1,
      [&](Piece* piece) {
        piece->profile = next++;
        return piece->profile < profiles.size();
      },
      [&](Piece* piece) {
        meter->Check();
        piece->priced = PriceOne(profiles.subspan(piece->profile, 1), options, pricing, meter);
      },
      [&](Piece* piece) {
        const std::unique_ptr<Priced> one = std::move(piece->priced);
        runner->AddPartials(std::move(one->partials), std::move(one->calls));
        merger.AddReport(one->report);
      });
  merger.Tell(prof::PriceOptionsOf(options, messages), messages);
}

}  // namespace oplens::engine
