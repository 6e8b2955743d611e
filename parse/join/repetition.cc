#include "parse/join/repetition.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "parse/join/align.h"
#include "parse/join/inference.h"
#include "parse/join/joined.h"
#include "parse/join/place_model.h"

namespace oplens::parse {
namespace {

/// Position of a part of a lane relative to steps.
enum class StepPlace {
  kWhole,    ///< It is one step.
  kEndsOne,  ///< A step ends with it; it may begin within one, and hold several.
  kBeginsOne,
};

/// Explains kernels without an op by models of steps of one file.
class Explainer {
 public:
  Explainer(Evidence evidence, std::vector<Inferred>* found)
      : evidence_(evidence), found_(*found) {}

  /// Explains a part of a lane by the best-matching model. Returns the number of explained kernels.
  size_t Explain(const Segment& target, StepPlace place, std::span<const PlaceModel> models);

  /// Explains kernels by equal surroundings: the op without the layer, if all known such kernels of
  /// the lane agree. `told`: which members have an op already.
  void ExplainByContext(const Lane& lane, KeyParts parts, const std::vector<bool>& told);

  uint32_t NextInstance() { return ++instances_; }

 private:
  struct Fit {
    const PlaceModel* model = nullptr;
    std::vector<uint32_t> partners;  // By member of the target: place, counted on over repetitions.
    size_t alike = 0;
  };

  static Fit FitOf(const Segment& target, StepPlace place, const PlaceModel& model);
  /// Whether the target's own facts match the model.
  static bool Agrees(const Segment& target, const Fit& fit);
  size_t Take(const Segment& target, const Fit& fit);
  Confidence ConfidenceOf(const Fit& fit, const PlaceModel::Place& place, size_t run) const;

  Evidence evidence_;
  std::vector<Inferred>& found_;
  uint32_t instances_ = 0;
};

/// Least length of a run of equal members, unless nearly all are equal.
constexpr size_t kExplainLeastRun = 8;
constexpr double kNearlyAll = 0.97;
constexpr double kLeastAlike = 0.5;
/// Tolerated share of contradictions between the target's own facts and the model.
constexpr double kMostContradicted = 0.02;
/// Members on each side that must be equal if the place in the step is unknown.
constexpr size_t kContext = 8;

template <typename Keys>
std::vector<uint64_t> Reversed(const Keys& keys) {
  return std::vector<uint64_t>(keys.rbegin(), keys.rend());
}

/// Repeats `keys` as often as an alignment of `wanted` members may need.
std::vector<uint64_t> Repeated(std::span<const uint64_t> keys, size_t wanted) {
  std::vector<uint64_t> all;
  all.reserve(wanted + kMaxEdits + keys.size());
  while (all.size() < wanted + kMaxEdits) all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

bool IsMemberWithoutOp(const Segment& segment, size_t i) {
  return HasNoRecordedOp(segment.lane->At(segment.begin + i));
}

int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// For each member, the length of the run of consecutive partners around it.
std::vector<size_t> ExplainRunsOf(const std::vector<uint32_t>& partners) {
  std::vector<size_t> runs(partners.size(), 0);
  for (size_t begin = 0; begin < partners.size();) {
    size_t end = begin + 1;
    if (partners[begin] != kUnaligned) {
      while (end < partners.size() && partners[end] == partners[end - 1] + 1) ++end;
      std::fill(runs.begin() + static_cast<std::ptrdiff_t>(begin),
                runs.begin() + static_cast<std::ptrdiff_t>(end), end - begin);
    }
    begin = end;
  }
  return runs;
}

/// Whether a stretch is unambiguous: long, and not all of one kind (a stream of collectives).
bool TellsItsPlace(std::span<const uint64_t> keys) {
  return keys.size() >= kExplainLeastRun &&
         std::any_of(keys.begin(), keys.end(), [&](uint64_t key) { return key != keys.front(); });
}

/// The op of each key, if all its places have the same; else 0.
std::unordered_map<uint64_t, uint64_t> OpsOfKeys(const PlaceModel& model) {
  std::unordered_map<uint64_t, uint64_t> ops;
  for (size_t i = 0; i < model.places().size(); ++i) {
    const PlaceModel::Place& place = model.places()[i];
    const uint64_t op = place.says_op() ? place.told.op : 0;
    const auto [entry, is_new] = ops.try_emplace(model.keys()[i], op);
    if (!is_new && entry->second != op) entry->second = 0;
  }
  return ops;
}

Explainer::Fit Explainer::FitOf(const Segment& target, StepPlace place, const PlaceModel& model) {
  const std::span<const uint64_t> own = target.Keys(model.parts());
  const std::span<const uint64_t> step = model.keys();
  Fit fit{&model, {}, 0};
  if (step.empty()) return fit;
  if (place == StepPlace::kWhole) {
    fit.partners = Align(own, step, AlignEnds::kBoth);
  } else if (place == StepPlace::kBeginsOne) {
    fit.partners = Align(own, Repeated(step, own.size()), AlignEnds::kTailFree);
  } else {
    // Backwards from the end of the step.
    const std::vector<uint64_t> other = Repeated(Reversed(step), own.size());
    const std::vector<uint32_t> partners = Align(Reversed(own), other, AlignEnds::kTailFree);
    fit.partners.resize(own.size(), kUnaligned);
    for (size_t i = 0; i < own.size(); ++i) {
      const uint32_t partner = partners[own.size() - 1 - i];
      if (partner == kUnaligned) continue;
      fit.partners[i] = static_cast<uint32_t>(other.size() - 1 - partner);
    }
  }
  fit.alike = own.size() -
              static_cast<size_t>(std::count(fit.partners.begin(), fit.partners.end(), kUnaligned));
  return fit;
}

bool Explainer::Agrees(const Segment& target, const Fit& fit) {
  const std::vector<PlaceModel::Place>& places = fit.model->places();
  size_t told = 0;
  size_t contradicted = 0;
  for (size_t i = 0; i < fit.partners.size(); ++i) {
    if (fit.partners[i] == kUnaligned || IsMemberWithoutOp(target, i)) continue;
    const PlaceModel::Place& place = places[fit.partners[i] % places.size()];
    // Compares without the forward op, which may precede the recording.
    const uint64_t own = target.lane->KnownOpAt(target.begin + i).own;
    if (!place.says_op() || own == 0) continue;
    ++told;
    if (place.told.own != own) ++contradicted;
  }
  return static_cast<double>(contradicted) <= kMostContradicted * static_cast<double>(told);
}

size_t Explainer::Explain(const Segment& target, StepPlace place,
                          std::span<const PlaceModel> models) {
  Fit best;
  for (const PlaceModel& model : models) {
    Fit fit = FitOf(target, place, model);
    if (fit.alike > best.alike) best = std::move(fit);
  }
  if (best.model == nullptr || !Agrees(target, best)) return 0;
  return Take(target, best);
}

Confidence Explainer::ConfidenceOf(const Fit& fit, const PlaceModel::Place& place,
                                   size_t run) const {
  const auto all = static_cast<double>(fit.partners.size());
  const bool nearly_all = static_cast<double>(fit.alike) >= kNearlyAll * all;
  if (run < kExplainLeastRun) return Confidence::kLow;
  const bool whole_key = fit.model->parts() != KeyParts::kName;
  if (nearly_all && (place.votes > 1 ? whole_key : evidence_ == Evidence::kReference)) {
    return Confidence::kHigh;
  }
  return nearly_all || place.votes > 1 ? Confidence::kMedium : Confidence::kLow;
}

size_t Explainer::Take(const Segment& target, const Fit& fit) {
  const auto all = static_cast<double>(fit.partners.size());
  const auto alike = static_cast<double>(fit.alike);
  if (alike < kLeastAlike * all) return 0;
  const std::vector<PlaceModel::Place>& places = fit.model->places();
  const std::vector<size_t> runs = ExplainRunsOf(fit.partners);
  const std::span<const uint64_t> keys = target.Keys(fit.model->parts());
  const bool placed = TellsItsPlace(keys);
  const std::unordered_map<uint64_t, uint64_t> ops =
      placed ? std::unordered_map<uint64_t, uint64_t>() : OpsOfKeys(*fit.model);
  size_t count = 0;
  uint32_t instance = 0;
  uint32_t repetition = kUnaligned;
  int64_t start_ns = 0;
  for (size_t i = 0; i < fit.partners.size(); ++i) {
    const uint32_t partner = fit.partners[i];
    if (partner == kUnaligned) continue;
    if (repetition != partner / places.size()) {
      repetition = static_cast<uint32_t>(partner / places.size());
      instance = NextInstance();
      start_ns = target.lane->StartOf(target.begin + i);
    }
    const PlaceModel::Place& place = places[partner % places.size()];
    const bool sure = runs[i] >= kExplainLeastRun || alike >= kNearlyAll * all;
    if (!sure || !place.says_op() || !IsMemberWithoutOp(target, i)) continue;
    if (!fit.model->IsBorneOut(place)) continue;
    if (!placed && ops.at(keys[i]) == 0) continue;
    found_.push_back({target.lane->KernelOf(target.begin + i), place.donor, instance,
                      Difference(start_ns, place.donor_step_ns), evidence_,
                      ConfidenceOf(fit, place, runs[i]), place.says_layer()});
    ++count;
  }
  return count;
}

void Explainer::ExplainByContext(const Lane& lane, KeyParts parts, const std::vector<bool>& told) {
  struct Known {
    uint64_t op = 0;
    uint32_t member = 0;
    uint32_t count = 0;
    bool differs = false;
  };
  const std::span<const uint64_t> keys = lane.Keys(parts);
  if (keys.size() <= 2 * kContext) return;
  const auto context_of = [&](size_t i) {
    uint64_t hash = 0;
    for (size_t j = i - kContext; j <= i + kContext; ++j) hash = MixHash(hash, keys[j]);
    return hash;
  };
  const Segment whole{&lane, 0, lane.size()};
  std::unordered_map<uint64_t, Known> contexts;
  for (size_t i = kContext; i + kContext < keys.size(); ++i) {
    if (!told[i]) contexts.try_emplace(context_of(i));
  }
  for (size_t i = kContext; i + kContext < keys.size(); ++i) {
    if (IsMemberWithoutOp(whole, i)) continue;
    const auto place = contexts.find(context_of(i));
    if (place == contexts.end()) continue;
    Known& known = place->second;
    const uint64_t op = lane.KnownOpAt(i).op;
    if (known.count++ == 0) {
      known.op = op;
      known.member = static_cast<uint32_t>(i);
    }
    known.differs |= known.op != op;
  }
  uint32_t instance = 0;
  int64_t shift_ns = 0;
  uint32_t next = kUnaligned;
  for (size_t i = kContext; i + kContext < keys.size(); ++i) {
    if (told[i]) continue;
    const Known& known = contexts.at(context_of(i));
    if (known.count < 2 || known.differs || known.op == 0) continue;
    if (known.member != next) {
      instance = NextInstance();
      shift_ns = Difference(lane.StartOf(i), lane.StartOf(known.member));
    }
    next = known.member + 1;
    found_.push_back({lane.KernelOf(i), lane.KernelOf(known.member), instance, shift_ns, evidence_,
                      Confidence::kLow, false});
  }
}

bool HasKernelsWithoutOp(const Segment& segment) {
  for (size_t i = segment.begin; i < segment.end; ++i) {
    if (HasNoRecordedOp(segment.lane->At(i))) return true;
  }
  return false;
}

/// Whether a step has enough known kernels to explain others.
bool IsTold(const Segment& segment) {
  size_t told = 0;
  for (size_t i = segment.begin; i < segment.end; ++i) {
    if (!HasNoRecordedOp(segment.lane->At(i))) ++told;
  }
  return segment.step && told > 0;
}

/// Explains the kernels of one lane that have no op.
class LaneRepetition {
 public:
  LaneRepetition(const Lane& lane, Explainer* explainer, std::vector<Inferred>* found)
      : lane_(lane), explainer_(*explainer), found_(*found), steps_(StepsOf(lane)) {}

  void Infer() {
    const size_t before = found_.size();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (HasKernelsWithoutOp(steps_[i])) Explain(i);
    }
    std::vector<bool> told(lane_.size());
    std::vector<uint32_t> kernels;
    for (size_t i = before; i < found_.size(); ++i) kernels.push_back(found_[i].kernel);
    std::sort(kernels.begin(), kernels.end());
    bool all = true;
    for (size_t i = 0; i < lane_.size(); ++i) {
      told[i] = !HasNoRecordedOp(lane_.At(i)) ||
                std::binary_search(kernels.begin(), kernels.end(), lane_.KernelOf(i));
      all = all && told[i];
    }
    if (!all) explainer_.ExplainByContext(lane_, PartsOf(lane_, 0, lane_.size()), told);
  }

 private:
  void Explain(size_t i) {
    const Segment& target = steps_[i];
    const KeyParts parts = PartsOf(lane_, target.begin, target.end);
    const std::vector<PlaceModel>& models = ModelsFor(parts);
    if (target.step) {
      explainer_.Explain(target, StepPlace::kWhole, models);
    } else {
      const bool last = i + 1 == steps_.size();
      explainer_.Explain(target, last ? StepPlace::kBeginsOne : StepPlace::kEndsOne, models);
    }
  }

  const std::vector<PlaceModel>& ModelsFor(KeyParts parts) {
    const auto [place, is_new] = models_.try_emplace(parts);
    if (is_new) {
      std::vector<Segment> told;
      std::copy_if(steps_.begin(), steps_.end(), std::back_inserter(told), IsTold);
      place->second = ModelsOf(told, parts);
    }
    return place->second;
  }

  const Lane& lane_;
  Explainer& explainer_;
  std::vector<Inferred>& found_;
  std::vector<Segment> steps_;
  std::map<KeyParts, std::vector<PlaceModel>> models_;
};

}  // namespace

std::vector<Lane> LanesOf(const Joined& joined, PlaceKeys* keys) {
  std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<uint32_t>> streams;
  const std::vector<Kernel>& kernels = joined.trace().kernels;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (!kernels[i].timed()) break;
    streams[{kernels[i].device_id, kernels[i].context_id, kernels[i].stream_id}].push_back(i);
  }
  std::vector<Lane> lanes;
  for (auto& [stream, members] : streams) lanes.emplace_back(joined, keys, std::move(members));
  return lanes;
}

std::vector<Segment> StepsOf(const Lane& lane) {
  std::vector<Segment> steps;
  std::optional<int64_t> now;
  size_t begin = 0;
  size_t labelled = 0;  // Behind the last kernel of the current step.
  const auto close = [&](size_t end) {
    // Kernels without a step belong to the one before up to its last kernel only.
    if (now) steps.push_back({&lane, begin, labelled, now});
    const size_t between = now ? labelled : begin;
    if (between < end) steps.push_back({&lane, between, end, std::nullopt});
  };
  for (size_t i = 0; i < lane.size(); ++i) {
    const LaunchIndex launch = lane.At(i).launch;
    if (launch == kNoLaunch) continue;
    const std::optional<int64_t> step =
        lane.joined().StepOf(lane.joined().trace().launches[launch]);
    if (!step) continue;
    if (!now || *step > *now) {
      close(i);
      begin = i;
      now = step;
    }
    labelled = i + 1;
  }
  close(lane.size());
  return steps;
}

KeyParts PartsOf(const Lane& lane, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const Kernel& kernel = lane.At(i);
    if (HasNoRecordedOp(kernel) && lane.joined().trace().ShapeOf(kernel).grid[0] < 0)
      return KeyParts::kName;
  }
  return KeyParts::kLaunch;
}

void InferFromRepetition(const std::vector<Lane>& lanes, std::vector<Inferred>* found) {
  Explainer explainer(Evidence::kRepetition, found);
  for (const Lane& lane : lanes) {
    if (HasKernelsWithoutOp({&lane, 0, lane.size()}))
      LaneRepetition(lane, &explainer, found).Infer();
  }
}

}  // namespace oplens::parse
