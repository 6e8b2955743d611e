// match_calls RANKS CALLS [numbered]: what it costs to load, match and sum up the calls of
// collectives of so many ranks, in groups of 8, in groups across these,
// and of all ranks.

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "prof/summary_file/section.h"
#include "prof/views/collectives/collective_matches.h"

namespace {

using oplens::prof::CollectiveKind;
using oplens::prof::CollectiveSet;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int64_t PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// The calls of a rank as a summary of it keeps them.
std::string BytesOf(int64_t rank, int64_t ranks, int64_t count, bool numbered) {
  std::mt19937_64 random(static_cast<uint64_t>(rank));
  const auto noise = [&](uint64_t most) { return static_cast<int64_t>(random() % most); };
  CollectiveSet set;
  const uint32_t groups[] = {set.NumberOf({fmt::format("tp{}", rank / 8), "", 8}),
                             set.NumberOf({fmt::format("dp{}", rank % 8), "", ranks / 8}),
                             set.NumberOf({"world", "", ranks})};
  CollectiveSet::Recording recording;
  recording.origin_ns = 1'700'000'000'000'000'000 + noise(3'000'000);
  recording.world_size = ranks;
  recording.numbered_steps = true;
  recording.clock_offset_ns = noise(3'000'000);
  std::vector<CollectiveSet::Call> calls;
  int64_t in_group[3] = {};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t step = i / 50;
    if (i % 50 == 0) recording.steps.push_back(step);
    const size_t which = i % 50 == 49 ? 2 : (i % 2 == 0 ? 0 : 1);
    CollectiveSet::Call& call = calls.emplace_back();
    call.start_ns = recording.origin_ns + i * 2'000'000 + noise(500'000);
    call.end_ns = recording.origin_ns + i * 2'000'000 + 900'000 + noise(5'000);
    call.latency_ns = call.end_ns - call.start_ns;
    call.exposed_ns = call.latency_ns / 2;
    call.size_bytes = 1 << (20 + i % 4);
    call.sequence = numbered ? in_group[which]++ : -1;
    call.step = static_cast<uint32_t>(step);
    call.group = groups[which];
    call.kind = which == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
    call.dtype = oplens::ops::DType::kFloat16;
  }
  set.Add(std::to_string(rank), std::move(recording), calls);
  return oplens::prof::SaveCalls(set);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: match_calls RANKS CALLS [numbered]\n");
    return 2;
  }
  const int64_t ranks = std::atoll(argv[1]);
  const int64_t count = std::atoll(argv[2]);
  const bool numbered = argc > 3 && std::string_view(argv[3]) == "numbered";
  double making_s = 0;
  size_t bytes = 0;
  CollectiveSet all;
  const double begin_s = CpuSeconds();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const double made_s = CpuSeconds();
    const std::string saved = BytesOf(rank, ranks, count, numbered);
    making_s += CpuSeconds() - made_s;
    bytes += saved.size();
    all.Merge(oplens::prof::LoadCalls(saved, "made"));
  }
  const double loaded_s = CpuSeconds();
  const oplens::prof::CollectiveMatches matches(all);
  const double matched_s = CpuSeconds();
  std::vector<std::unique_ptr<oplens::prof::Partial>> partials;
  for (const auto& view : oplens::prof::Views()) {
    oplens::prof::ViewOptions options;
    if (view.name == "collectives") options.by = {"kind", "group"};
    if (view.calls) partials.push_back(view.make(options));
  }
  std::vector<oplens::prof::Partial*> all_partials;
  for (const auto& partial : partials) all_partials.push_back(partial.get());
  oplens::prof::GiveCalls(matches, all_partials);
  const double given_s = CpuSeconds();
  fmt::print(
      "{} ranks, {} calls, {:.1f} bytes a call; CPU: load {:.2f} s, match {:.2f} s, give to "
      "{} views {:.2f} s; {:.1f} us a call; peak {} MiB\n",
      ranks, ranks * count, static_cast<double>(bytes) / static_cast<double>(ranks * count),
      loaded_s - begin_s - making_s, matched_s - loaded_s, partials.size(), given_s - matched_s,
      1e6 * (given_s - begin_s - making_s) / static_cast<double>(ranks * count), PeakMegabytes());
  return 0;
}
