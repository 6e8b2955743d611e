#include "report/timeline/path_strip.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/timeline/windows.h"

namespace oplens::report {
namespace {

using CauseTimes = std::array<int64_t, prof::kPathCauseCount>;

/// The cause with the most time; of equal ones the first.
std::optional<prof::PathCause> MostOf(const CauseTimes& times) {
  const auto most = std::max_element(times.begin(), times.end());
  if (*most == 0) return std::nullopt;
  return static_cast<prof::PathCause>(most - times.begin());
}

}  // namespace

StripMaker::StripMaker(std::string rank, int64_t origin_ns, size_t steps, size_t most_buckets)
    : rank_(std::move(rank)),
      origin_ns_(origin_ns),
      buckets_(std::clamp(most_buckets / std::max<size_t>(steps, 1), kLeastBuckets, kMostBuckets)),
      most_strips_(std::max<size_t>(most_buckets / buckets_, 1)) {}

void StripMaker::TakeStep(const prof::StepPath& step) {
  const std::vector<Edge> edges = std::exchange(edges_, {});
  if (edges.empty() || strips_.size() >= most_strips_) return;
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const Edge& edge : edges) {
    first = std::min(first, edge.start_ns);
    last = std::max(last, Since(edge.start_ns, -std::max<int64_t>(edge.time_ns, 0)));
  }
  PathStrip strip;
  strip.rank = rank_;
  strip.step = step.number;
  strip.start_ns = Since(first, origin_ns_);
  const int64_t length = std::max<int64_t>(Since(last, first), 1);
  strip.bucket_ns = (length - 1) / static_cast<int64_t>(buckets_) + 1;
  std::vector<CauseTimes> times(static_cast<size_t>((length - 1) / strip.bucket_ns + 1));
  for (const Edge& edge : edges) {
    const int64_t from = Since(edge.start_ns, first);
    const int64_t to = from + std::clamp<int64_t>(edge.time_ns, 0, length - from);
    for (int64_t at = from; at < to;) {
      const int64_t bucket = at / strip.bucket_ns;
      const int64_t start = bucket * strip.bucket_ns;
      const int64_t end = to - start > strip.bucket_ns ? start + strip.bucket_ns : to;
      times[static_cast<size_t>(bucket)][static_cast<size_t>(edge.cause)] += end - at;
      at = end;
    }
  }
  for (const CauseTimes& of : times) {
    const std::optional<prof::PathCause> cause = MostOf(of);
    if (strip.stretches.empty() || strip.stretches.back().cause != cause) {
      strip.stretches.push_back({cause, 0});
    }
    ++strip.stretches.back().buckets;
  }
  strips_.push_back(std::move(strip));
}

std::string StripsJson(const std::vector<PathStrip>& strips) {
  using Json = nlohmann::ordered_json;
  Json json = {{"causes", Json::array()}, {"strips", Json::array()}};
  for (size_t cause = 0; cause < prof::kPathCauseCount; ++cause) {
    json["causes"].push_back(prof::PathCauseWord(static_cast<prof::PathCause>(cause)));
  }
  const auto number = [](int64_t value) {
    constexpr int64_t kLargestExact = int64_t{1} << 53;
    return value > kLargestExact || value < -kLargestExact ? Json(std::to_string(value))
                                                           : Json(value);
  };
  for (const PathStrip& strip : strips) {
    Json causes = Json::array();
    Json buckets = Json::array();
    for (const PathStrip::Stretch& stretch : strip.stretches) {
      causes.push_back(stretch.cause ? static_cast<int>(*stretch.cause) : -1);
      buckets.push_back(stretch.buckets);
    }
    json["strips"].push_back({{"rank", strip.rank},
                              {"step", number(strip.step)},
                              {"start_ns", number(strip.start_ns)},
                              {"bucket_ns", number(strip.bucket_ns)},
                              {"causes", std::move(causes)},
                              {"buckets", std::move(buckets)}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace oplens::report
