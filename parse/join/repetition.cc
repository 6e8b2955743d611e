#include "parse/join/repetition.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "parse/join/explain.h"
#include "parse/join/joined.h"

namespace oplens::parse {
namespace {

const Kernel& RepetitionKernelAt(const Lane& lane, size_t i) {
  return lane.joined().trace().kernels[lane.KernelOf(i)];
}

bool HasUntold(const Segment& segment) {
  for (size_t i = segment.begin; i < segment.end; ++i) {
    if (IsUntold(RepetitionKernelAt(*segment.lane, i))) return true;
  }
  return false;
}

/// A step that tells of enough kernels to be one of those that explain.
bool IsTold(const Segment& segment) {
  size_t told = 0;
  for (size_t i = segment.begin; i < segment.end; ++i) {
    if (!IsUntold(RepetitionKernelAt(*segment.lane, i))) ++told;
  }
  return segment.step && told > 0;
}

/// Explains what is untold in one lane.
class LaneRepetition {
 public:
  LaneRepetition(const Lane& lane, Explainer* explainer, std::vector<Inferred>* found)
      : lane_(lane), explainer_(*explainer), found_(*found), steps_(StepsOf(lane)) {}

  void Infer() {
    const size_t before = found_.size();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (HasUntold(steps_[i])) Explain(i);
    }
    std::vector<bool> told(lane_.size());
    std::vector<uint32_t> kernels;
    for (size_t i = before; i < found_.size(); ++i) kernels.push_back(found_[i].kernel);
    std::sort(kernels.begin(), kernels.end());
    bool all = true;
    for (size_t i = 0; i < lane_.size(); ++i) {
      told[i] = !IsUntold(RepetitionKernelAt(lane_, i)) ||
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
  size_t labelled = 0;  // Behind the last kernel of the step at hand.
  const auto close = [&](size_t end) {
    // What no step tells of itself belongs to the one before only as far as that goes on.
    if (now) steps.push_back({&lane, begin, labelled, now});
    const size_t between = now ? labelled : begin;
    if (between < end) steps.push_back({&lane, between, end, std::nullopt});
  };
  for (size_t i = 0; i < lane.size(); ++i) {
    const LaunchIndex launch = RepetitionKernelAt(lane, i).launch;
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
    const Kernel& kernel = RepetitionKernelAt(lane, i);
    if (IsUntold(kernel) && kernel.grid[0] < 0) return KeyParts::kName;
  }
  return KeyParts::kLaunch;
}

void InferFromRepetition(const std::vector<Lane>& lanes, std::vector<Inferred>* found) {
  Explainer explainer(Evidence::kRepetition, found);
  for (const Lane& lane : lanes) {
    if (HasUntold({&lane, 0, lane.size()})) LaneRepetition(lane, &explainer, found).Infer();
  }
}

}  // namespace oplens::parse
