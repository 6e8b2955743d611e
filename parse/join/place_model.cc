#include "parse/join/place_model.h"

#include <algorithm>
#include <map>

#include "parse/join/align.h"
#include "parse/join/gpu_work.h"
#include "parse/join/inference.h"
#include "parse/join/joined.h"

namespace oplens::parse {

const Kernel& Lane::At(size_t i) const { return parse::KernelOf(joined_.trace(), kernels_[i]); }

int64_t Lane::StartOf(size_t i) const { return At(i).start_ns; }

std::span<const uint64_t> Lane::Keys(KeyParts parts) const {
  std::vector<uint64_t>& keys = keys_[static_cast<size_t>(parts)];
  if (keys.empty()) {
    keys.reserve(kernels_.size());
    for (size_t i = 0; i < size(); ++i) keys.push_back(place_keys_.Of(At(i), parts));
  }
  return keys;
}

const KnownOp& Lane::KnownOpAt(size_t i) const {
  if (told_.empty()) {
    told_.reserve(kernels_.size());
    for (const uint32_t kernel : kernels_) {
      const bool told = !HasNoRecordedOp(parse::KernelOf(joined_.trace(), kernel));
      told_.push_back(told ? KnownOpOf(joined_, kernel, &place_keys_) : KnownOp());
    }
  }
  return told_[i];
}

bool PlaceModel::Add(const Segment& repetition) {
  const std::vector<uint32_t> partners = Align(repetition.Keys(parts_), keys(), AlignEnds::kBoth);
  const auto alike = partners.size() -
                     static_cast<size_t>(std::count(partners.begin(), partners.end(), kUnaligned));
  if (2 * alike < partners.size()) return false;
  ++repetitions_;
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] == kUnaligned) continue;
    const size_t member = repetition.begin + i;
    const Lane& lane = *repetition.lane;
    if (HasNoRecordedOp(lane.At(member))) continue;
    const KnownOp& told = lane.KnownOpAt(member);
    Place& place = places_[partners[i]];
    if (place.votes++ == 0) {
      place.told = told;
      place.donor = lane.KernelOf(member);
      place.donor_step_ns = lane.StartOf(repetition.begin);
      continue;
    }
    place.op_differs |= place.told.op != told.op;
    place.layer_differs |= place.told.layer != told.layer;
  }
  return true;
}

std::vector<PlaceModel> ModelsOf(std::span<const Segment> steps, KeyParts parts) {
  std::vector<PlaceModel> models;
  std::vector<Segment> left(steps.begin(), steps.end());
  while (!left.empty() && models.size() < kMostModels) {
    std::map<size_t, size_t> lengths;
    for (const Segment& step : left) ++lengths[step.size()];
    const auto common =
        std::max_element(lengths.begin(), lengths.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto shape = std::find_if(left.begin(), left.end(), [&](const Segment& step) {
      return step.size() == common->first;
    });
    PlaceModel& model = models.emplace_back(*shape, parts);
    // The shape itself first, so that donors are from one step if possible.
    model.Add(*shape);
    left.erase(shape);
    std::erase_if(left, [&](const Segment& step) { return model.Add(step); });
  }
  return models;
}

}  // namespace oplens::parse
