#include "engine/price_ranks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/team.h"
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
  std::vector<std::exception_ptr> problems(profiles.size());
  std::atomic<bool> failed{false};
  std::mutex mutex;
  // With the mutex. Merged in order, and freed as soon as that is possible.
  std::vector<std::unique_ptr<Priced>> waiting(profiles.size());
  size_t next = 0;
  const size_t threads = std::min<size_t>(profiles.size(), options.many.jobs);
  Team(std::max<size_t>(threads, 1) - 1).Each(profiles.size(), [&](size_t i) {
    if (failed) return;
    try {
      meter->Check();
      std::unique_ptr<Priced> priced = PriceOne(profiles.subspan(i, 1), options, pricing, meter);
      const std::lock_guard lock(mutex);
      waiting[i] = std::move(priced);
      for (; next < waiting.size() && waiting[next] != nullptr; ++next) {
        const std::unique_ptr<Priced> one = std::move(waiting[next]);
        runner->AddPartials(std::move(one->partials), std::move(one->calls));
        merger.AddReport(one->report);
      }
    } catch (...) {
      problems[i] = std::current_exception();
      failed = true;
    }
  });
  for (const std::exception_ptr& problem : problems) {
    if (problem != nullptr) std::rethrow_exception(problem);
  }
  merger.Tell(prof::PriceOptionsOf(options, messages), messages);
}

}  // namespace oplens::engine
