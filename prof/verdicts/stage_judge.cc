#include "prof/verdicts/stage_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/median.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/load_series.h"
#include "prof/verdicts/peers.h"

namespace oplens::prof {
namespace {

/// Least spread of compared times of a place, as a share of the usual one: below it is rounding.
constexpr double kLeastPlaceSpread = 0.001;

using Measure = int64_t (*)(const LoadStep& step);

int64_t ComputeOf(const LoadStep& step) { return step.compute_ns; }
int64_t OtherOf(const LoadStep& step) { return step.other_ns; }
int64_t CopyOf(const LoadStep& step) { return step.copy_ns; }
template <HostWork work>
int64_t HostWorkOf(const LoadStep& step) {
  return step.host_ns[static_cast<size_t>(work)];
}

int64_t RoundedNs(double value) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(std::clamp(std::round(value), -kMost, kMost));
}

/// "+48 %"
std::string MoreText(double own, double usual) {
  return usual > 0 ? fmt::format("+{:.0f} %", 100 * (own - usual) / usual) : std::string("new");
}

/// The ranks of a pipeline stage, which do the same.
class StageJudge {
 public:
  explicit StageJudge(std::vector<const RankLoad*> loads) : loads_(std::move(loads)) {
    compute_ = PeersBy(ComputeOf);
    other_ = PeersBy(OtherOf);
    for (const RankLoad* load : loads_) {
      for (const LoadStep& step : load->steps) {
        if (step.steady) most_calls_[step.number].Add(step.calls);
      }
    }
    for (const RankLoad* load : loads_) {
      for (const LoadStep& step : load->steps) {
        if (HasWaits(step)) waits_[step.number].Add(step.wait_ns);
      }
      for (const LoadPlace& place : load->places) {
        havers_[{place.op, place.layer}].emplace_back(load, &place);
      }
    }
    for (auto& [number, peers] : waits_) peers.Sort();
  }

  LoadFinding Of(const RankLoad& load) {
    LoadFinding verdict;
    std::vector<Culprit>& found = verdict.culprits;
    const LoadSeries compute = SeriesOf(load, ComputeOf, compute_);
    const LoadSeries other = SeriesOf(load, OtherOf, other_);
    if (auto culprit = Judge(load, compute, [&](const Episode& of, Culprit* to) {
          ExplainCompute(load, compute, of, to);
        })) {
      found.push_back(*std::move(culprit));
    } else if (auto slow = SlowOpOf(load)) {
      found.push_back(*std::move(slow));
    }
    if (auto culprit = Judge(load, other, [&](const Episode& of, Culprit* to) {
          ExplainHost(load, other, of, to);
        })) {
      found.push_back(*std::move(culprit));
    }
    verdict.steps = compute.steps.size();
    verdict.late_ns = LatenessOf(load, found);
    return verdict;
  }

 private:
  using Havers = std::vector<std::pair<const RankLoad*, const LoadPlace*>>;
  using PlaceKey = std::pair<std::string_view, std::string_view>;

  /// How a place of a rank compares with its peers over some steps.
  struct PlaceExcess {
    const LoadPlace* place = nullptr;
    double own_ns = 0;  ///< Mean per step.
    double excess_ns = 0;
    double work = 1;  ///< Own FLOPs (kernels where none are known) over the median of the others.

    double usual_ns() const { return own_ns - excess_ns; }
    SlowPlace shown() const {
      return {place->op, place->layer, RoundedNs(own_ns), RoundedNs(usual_ns())};
    }
    /// Whether it does so much more that this explains at least half of the excess.
    bool DoesMore() const {
      constexpr double kLeast = 0.02;
      const double more = usual_ns() > 0 ? excess_ns / usual_ns() : 0;
      return work - 1 > kLeast && work - 1 > more / 2;
    }
  };

  PeersOfSteps PeersBy(Measure measure) const {
    PeersOfSteps all;
    for (const RankLoad* load : loads_) {
      for (const LoadStep& step : load->steps) {
        if (step.steady) all[step.number].Add(measure(step));
      }
    }
    for (auto& [number, peers] : all) peers.Sort();
    return all;
  }

  /// Waits are comparable only between ranks with as many matched calls.
  bool HasWaits(const LoadStep& step) const {
    return step.steady && step.calls > 0 && step.calls == most_calls_.at(step.number).value;
  }

  LoadSeries SeriesOf(const RankLoad& load, Measure measure, const PeersOfSteps& all) const {
    LoadSeries series;
    for (size_t i = 0; i < load.steps.size(); ++i) {
      const LoadStep& step = load.steps[i];
      if (!step.steady) continue;
      const Peers& peers = all.at(step.number);
      if (peers.size() < 2 || peers.size() * 2 < loads_.size()) continue;
      const int64_t own = measure(step);
      series.Add(step.number, i, static_cast<double>(own) - peers.MedianWithout(own),
                 static_cast<double>(step.total_ns));
    }
    return series;
  }

  /// Of a measure in the steps of an episode of another: which steps a series has does not depend
  /// on the measure.
  double MeanExcess(const RankLoad& load, Measure measure, const Episode& episode) {
    const auto [peers, fresh] = measured_.try_emplace(measure);
    if (fresh) peers->second = PeersBy(measure);
    return MeanAt(SeriesOf(load, measure, peers->second).excess_ns, episode.slow);
  }

  /// How much less the rank waits than the median of the others; nullopt: not known.
  std::optional<double> LatenessIn(const RankLoad& load, size_t place) const {
    const LoadStep& step = load.steps[place];
    if (!HasWaits(step)) return std::nullopt;
    const Peers& peers = waits_.at(step.number);
    if (peers.size() < 2) return std::nullopt;
    return peers.MedianWithout(step.wait_ns) - static_cast<double>(step.wait_ns);
  }

  /// In the steps of the costliest culprit, else in all.
  std::optional<int64_t> LatenessOf(const RankLoad& load,
                                    const std::vector<Culprit>& culprits) const {
    const auto costliest = std::ranges::max_element(
        culprits, {}, [](const Culprit& one) { return one.cost_ns.value_or(-1); });
    const auto counts = [&](int64_t number) {
      if (costliest == culprits.end()) return true;
      if (costliest->since_step) return number >= *costliest->since_step;
      return std::ranges::find(costliest->slow_steps, number) != costliest->slow_steps.end();
    };
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < load.steps.size(); ++i) {
      const auto late = LatenessIn(load, i);
      if (!late || !counts(load.steps[i].number)) continue;
      sum += *late;
      ++known;
    }
    if (known == 0) return std::nullopt;
    return RoundedNs(sum / static_cast<double>(known));
  }

  /// Sets the steps and the cost. Returns whether others wait for it, as far as that is known.
  bool Weigh(const RankLoad& load, const LoadSeries& series, const Episode& episode,
             Culprit* culprit) const {
    constexpr double kLeastLate = 0.2;
    double cost = 0;
    double late_sum = 0;
    double excess_sum = 0;
    size_t known = 0;
    for (const size_t i : episode.slow) {
      const auto late = LatenessIn(load, series.places[i]);
      if (!late) continue;
      ++known;
      late_sum += *late;
      excess_sum += series.excess_ns[i];
      cost += std::clamp(*late, 0.0, std::max(0.0, series.excess_ns[i]));
    }
    if (known > 0 && late_sum < kLeastLate * excess_sum) return false;
    double total = 0;
    for (const size_t place : series.places) {
      total += static_cast<double>(int64_t{load.steps[place].total_ns});
    }
    total /= static_cast<double>(series.places.size());
    culprit->steps = series.steps.size();
    culprit->tested = episode.tested;
    culprit->grows = episode.grows;
    if (episode.since) {
      culprit->since_step = series.steps[*episode.since];
    } else {
      for (const size_t i : episode.slow) culprit->slow_steps.push_back(series.steps[i]);
    }
    if (known == 0) return true;
    // Of slow steps whose waits are not known: as of the others.
    cost /= static_cast<double>(known);
    if (!episode.since) {
      cost *= static_cast<double>(episode.slow.size()) / static_cast<double>(series.steps.size());
    }
    culprit->cost_ns = RoundedNs(cost);
    culprit->cost_share = total > 0 ? cost / total : 0;
    return true;
  }

  template <typename Explain>
  std::optional<Culprit> Judge(const RankLoad& load, const LoadSeries& series, Explain explain) {
    const std::optional<Episode> episode = EpisodeOf(series);
    if (!episode) return std::nullopt;
    Culprit culprit;
    if (!Weigh(load, series, *episode, &culprit)) return std::nullopt;
    explain(*episode, &culprit);
    return culprit;
  }

  const PeersOfSteps& PeersOfPlace(const PlaceKey& key) {
    const auto [at, fresh] = place_peers_.try_emplace(key);
    if (!fresh) return at->second;
    for (const auto& [load, place] : havers_.at(key)) {
      for (size_t i = 0; i < load->steps.size(); ++i) {
        if (load->steps[i].steady) at->second[load->steps[i].number].Add(place->times_ns[i]);
      }
    }
    for (auto& [number, peers] : at->second) peers.Sort();
    return at->second;
  }

  /// Of a place's time, with shares of its usual time. Only steps in which most ranks have it.
  LoadSeries SeriesOfPlace(const RankLoad& load, const LoadPlace& place) {
    LoadSeries series;
    const PeersOfSteps& all = PeersOfPlace({place.op, place.layer});
    for (size_t i = 0; i < load.steps.size(); ++i) {
      if (!load.steps[i].steady) continue;
      const Peers& peers = all.at(load.steps[i].number);
      if (peers.size() < 2 || peers.size() * 2 < loads_.size()) continue;
      const int64_t own = place.times_ns[i];
      const double usual = peers.MedianWithout(own);
      if (usual > 0) series.Add(load.steps[i].number, i, static_cast<double>(own) - usual, usual);
    }
    return series;
  }

  double WorkOf(const RankLoad& load, const LoadPlace& place) const {
    const auto per_step = [](const RankLoad& of, int64_t work) {
      return static_cast<double>(work) / static_cast<double>(std::max<size_t>(1, of.steps.size()));
    };
    const bool priced = place.flops > 0;
    std::vector<double> others;
    for (const auto& [other, its] : havers_.at({place.op, place.layer})) {
      if (other != &load) others.push_back(per_step(*other, priced ? its->flops : its->kernels));
    }
    const double usual = MedianOf(std::move(others));
    return usual > 0 ? per_step(load, priced ? place.flops : place.kernels) / usual : 1;
  }

  /// Ops (or layers) of a rank in steps of an episode, the largest excess first.
  std::vector<PlaceExcess> PlacesIn(const RankLoad& load, const LoadSeries& whole,
                                    const Episode& episode, bool layers) {
    std::set<size_t> wanted;
    for (const size_t i : episode.slow) wanted.insert(whole.places[i]);
    std::vector<PlaceExcess> found;
    for (const LoadPlace& place : load.places) {
      if (place.op.empty() != layers) continue;
      const LoadSeries series = SeriesOfPlace(load, place);
      std::vector<size_t> slow;
      double own = 0;
      for (size_t i = 0; i < series.places.size(); ++i) {
        if (!wanted.contains(series.places[i])) continue;
        slow.push_back(i);
        own += static_cast<double>(int64_t{place.times_ns[series.places[i]]});
      }
      if (slow.empty()) continue;
      found.push_back({&place, own / static_cast<double>(slow.size()),
                       MeanAt(series.excess_ns, slow), WorkOf(load, place)});
    }
    std::stable_sort(found.begin(), found.end(), [](const PlaceExcess& a, const PlaceExcess& b) {
      return a.excess_ns > b.excess_ns;
    });
    return found;
  }

  /// The layers, at most three, that are the slow ones: they have most of the excess of all layers
  /// and far less of the time. `of_ops`: what all ops take longer, over their usual time; layers
  /// must do so too, as far as kernels have one.
  static std::vector<PlaceExcess> FewSlow(const std::vector<PlaceExcess>& layers, double of_ops) {
    constexpr size_t kMostNamed = 3;
    constexpr double kMost = 0.75;
    constexpr double kFarMore = 1.5;
    constexpr double kOfOps = 0.6;
    double excess = 0;
    double usual = 0;
    for (const PlaceExcess& layer : layers) {
      excess += layer.excess_ns;
      usual += layer.usual_ns();
    }
    double slow_excess = 0;
    double slow_usual = 0;
    for (size_t i = 0; i < std::min(kMostNamed, layers.size()); ++i) {
      slow_excess += layers[i].excess_ns;
      slow_usual += layers[i].usual_ns();
      if (slow_excess <= 0 || slow_usual <= 0) break;
      const double share = slow_excess / excess;
      // Layers that are slow alike belong together.
      const bool parts =
          i + 1 == layers.size() || layers[i + 1].excess_ns < layers[i].excess_ns / 2;
      if (!parts || slow_excess < kOfOps * of_ops * usual) continue;
      if (share > kMost && share > kFarMore * slow_usual / usual) {
        const auto end = layers.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        return {layers.begin(), end};
      }
    }
    return {};
  }

  void ExplainCompute(const RankLoad& load, const LoadSeries& series, const Episode& episode,
                      Culprit* culprit) {
    constexpr double kMost = 0.6;
    const std::vector<PlaceExcess> ops = PlacesIn(load, series, episode, false);
    const std::vector<PlaceExcess> layers = PlacesIn(load, series, episode, true);
    double excess = 0;
    double own = 0;
    double of_more_work = 0;
    double alike = 0;  // Time of ops that are slower by about as much as all.
    for (const PlaceExcess& op : ops) {
      excess += op.excess_ns;
      own += op.own_ns;
      if (op.DoesMore()) of_more_work += std::max(0.0, op.excess_ns);
    }
    const double usual = own - excess;
    const double more = usual > 0 ? excess / usual : 0;
    for (const PlaceExcess& op : ops) {
      if (op.excess_ns > more / 2 * op.usual_ns()) alike += op.own_ns;
    }
    // The first op has most of the excess, and the rest are not slower by much.
    const auto first_stands_out = [&] {
      constexpr double kOfRest = 0.35;
      if (ops.empty() || excess <= 0) return false;
      const PlaceExcess& first = ops.front();
      const double rest = usual - first.usual_ns();
      const double rest_more = rest > 0 ? (excess - first.excess_ns) / rest : 0;
      const double first_more = first.usual_ns() > 0 ? first.excess_ns / first.usual_ns() : 1;
      return first.excess_ns > kMost * excess && rest_more < kOfRest * first_more;
    };
    const std::vector<PlaceExcess> slow_layers = FewSlow(layers, more);
    const auto text = [](const PlaceExcess& of, const std::string& name) {
      return fmt::format("{} {}", name, MoreText(of.own_ns, of.usual_ns()));
    };
    culprit->cause = CulpritCause::kSlowCompute;
    if (excess > 0 && of_more_work > excess / 2) {
      culprit->cause = CulpritCause::kOtherWork;
      const auto first = std::ranges::find_if(ops, &PlaceExcess::DoesMore);
      culprit->what = fmt::format("{} does {:.2f} times the work", first->place->op, first->work);
    } else if (first_stands_out()) {
      culprit->cause = CulpritCause::kSlowOp;
      culprit->what = text(ops.front(), ops.front().place->op);
      culprit->slow = ops.front().shown();
      RefineSince(load, *ops.front().place, culprit);
      if (slow_layers.size() == 1) {
        culprit->slow->layer = slow_layers.front().place->layer;
        culprit->what += fmt::format(" in {}", culprit->slow->layer);
      }
    } else if (!slow_layers.empty()) {
      culprit->cause = CulpritCause::kSlowLayer;
      std::string names;
      for (const PlaceExcess& layer : slow_layers) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", layer.place->layer);
      }
      culprit->what = text(slow_layers.front(), names);
      culprit->slow = slow_layers.front().shown();
    } else if (constexpr double kAll = 0.8; ops.size() > 2 && alike > kAll * own) {
      culprit->cause = CulpritCause::kSlowGpu;
      culprit->what = fmt::format("all its ops {}", MoreText(own, usual));
    } else if (!ops.empty() && excess > 0) {
      culprit->what = text(ops.front(), ops.front().place->op) + " and others";
      culprit->slow = ops.front().shown();
    }
  }

  /// The times of the op tell more exactly than those of all compute since when it is slow.
  void RefineSince(const RankLoad& load, const LoadPlace& place, Culprit* culprit) {
    if (!culprit->since_step || !culprit->tested || culprit->grows) return;
    const LoadSeries series = SeriesOfPlace(load, place);
    if (series.shares.size() < kLeastSteps) return;
    const SeriesLevel level = LevelOf(series.shares, kLeastPlaceSpread);
    if (level.level > 0 && IsCertain(level, series.shares.size())) {
      culprit->since_step = series.steps[level.since];
    }
  }

  void ExplainHost(const RankLoad& load, const LoadSeries& series, const Episode& episode,
                   Culprit* culprit) {
    constexpr double kLeastPart = 0.3;
    constexpr std::pair<Measure, CulpritCause> kMeasures[] = {
        {HostWorkOf<HostWork::kDataLoader>, CulpritCause::kDataLoader},
        {HostWorkOf<HostWork::kGarbage>, CulpritCause::kGarbage},
        {HostWorkOf<HostWork::kCheckpoint>, CulpritCause::kCheckpoint},
        {HostWorkOf<HostWork::kAllocator>, CulpritCause::kAllocator},
        {CopyOf, CulpritCause::kCopies}};
    double most = kLeastPart * MeanAt(series.excess_ns, episode.slow);
    culprit->cause = CulpritCause::kHost;
    culprit->what = "its GPU has nothing to do";
    for (const auto& [measure, cause] : kMeasures) {
      const double excess = MeanExcess(load, measure, episode);
      if (excess <= most) continue;
      most = excess;
      culprit->cause = cause;
      culprit->what = fmt::format("{:.1f} ms more in these steps", excess / 1e6);
    }
  }

  /// An op that is slow without being seen in the time of all compute.
  std::optional<Culprit> SlowOpOf(const RankLoad& load) {
    constexpr double kLeastSlow = 0.03;
    constexpr double kLeastOfStep = 0.001;
    std::optional<Culprit> costliest;
    double most = 0;
    for (const LoadPlace& place : load.places) {
      if (place.op.empty()) continue;
      const LoadSeries series = SeriesOfPlace(load, place);
      if (series.shares.size() < kLeastSteps) continue;
      const SeriesLevel level = LevelOf(series.shares, kLeastPlaceSpread);
      if (level.level < kLeastSlow || !IsCertain(level, series.shares.size())) continue;
      Episode episode;
      episode.since = level.since;
      episode.tested = true;
      for (size_t i = level.since; i < series.shares.size(); ++i) episode.slow.push_back(i);
      const double excess = MeanAt(series.excess_ns, episode.slow);
      if (excess <= most || excess < kLeastOfStep * MeanTotal(load)) continue;
      PlaceExcess of{&place, 0, excess, WorkOf(load, place)};
      for (const size_t i : episode.slow) {
        of.own_ns += static_cast<double>(int64_t{place.times_ns[series.places[i]]});
      }
      of.own_ns /= static_cast<double>(episode.slow.size());
      Culprit culprit;
      if (of.DoesMore() || !Weigh(load, series, episode, &culprit)) continue;
      culprit.cause = CulpritCause::kSlowOp;
      culprit.what = fmt::format("{} {}", place.op, MoreText(of.own_ns, of.usual_ns()));
      culprit.slow = of.shown();
      costliest = std::move(culprit);
      most = excess;
    }
    return costliest;
  }

  static double MeanTotal(const RankLoad& load) {
    double sum = 0;
    for (const LoadStep& step : load.steps) sum += static_cast<double>(int64_t{step.total_ns});
    return load.steps.empty() ? 0 : sum / static_cast<double>(load.steps.size());
  }

  std::vector<const RankLoad*> loads_;
  PeersOfSteps compute_;
  PeersOfSteps other_;
  PeersOfSteps waits_;
  std::map<int64_t, Max<int64_t>> most_calls_;
  std::map<Measure, PeersOfSteps> measured_;  // Of those that were asked for.
  std::map<PlaceKey, Havers> havers_;
  std::map<PlaceKey, PeersOfSteps> place_peers_;  // Of those that were asked for.
};

}  // namespace

std::vector<LoadFinding> JudgeStage(const std::vector<const RankLoad*>& loads) {
  StageJudge judge(loads);
  std::vector<LoadFinding> found;
  for (const RankLoad* load : loads) found.push_back(judge.Of(*load));
  return found;
}

}  // namespace oplens::prof
