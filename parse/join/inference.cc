#include "parse/join/inference.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "parse/join/align.h"
#include "parse/join/captures.h"
#include "parse/join/donor_votes.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/place_model.h"
#include "parse/join/repetition.h"

namespace oplens::parse {
namespace {

/// Required share of equal members.
constexpr double kPlaceAlike = 0.9;
/// Consecutive members by which places of other recordings are found; fewer match too often.
constexpr size_t kGram = 6;
constexpr size_t kMostPlacesOfGram = 64;
constexpr size_t kMostPlaces = 8;
/// Greatest shift by insertions.
constexpr int64_t kReferenceSlack = 64;

uint64_t HashOf(std::span<const uint64_t> keys) {
  uint64_t hash = keys.size();
  for (const uint64_t key : keys) hash = MixHash(hash, key);
  return hash;
}

/// Explains kernels by those that ran in a reference.
class ByKernels {
 public:
  ByKernels(const Joined& reference, PlaceKeys* keys) : lanes_(LanesOf(reference, keys)) {}

  /// Where the reference has no such place, one of other sizes may tell ops without arguments.
  void Explain(const Segment& target, KeyParts parts, uint32_t* instances,
               std::vector<Inferred>* found) {
    if (target.size() < kReferenceLeastRun) return;
    if (ExplainBy(target, parts, Confidence::kMedium, instances, found)) return;
    if (parts == KeyParts::kName) return;
    const size_t before = found->size();
    ExplainBy(target, KeyParts::kName, Confidence::kLow, instances, found);
    for (size_t i = before; i < found->size(); ++i) (*found)[i].arguments = false;
  }

 private:
  struct Place {
    size_t lane;
    int64_t diagonal;
  };
  using Grams = std::unordered_map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;

  /// Returns whether a place fits.
  bool ExplainBy(const Segment& target, KeyParts parts, Confidence confidence, uint32_t* instances,
                 std::vector<Inferred>* found) {
    const std::span<const uint64_t> keys = target.Keys(parts);
    DonorVotes votes(keys.size());
    bool any = false;
    for (const auto& [lane, diagonal] : PlacesOf(keys, parts)) {
      const std::span<const uint64_t> all = lanes_[lane].Keys(parts);
      const auto last = static_cast<int64_t>(all.size());
      const int64_t begin = std::clamp<int64_t>(diagonal - kReferenceSlack, 0, last);
      const int64_t end = std::clamp<int64_t>(
          diagonal + static_cast<int64_t>(keys.size()) + kReferenceSlack, begin, last);
      const auto source = all.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      const std::vector<uint32_t> partners = Align(keys, source, AlignEnds::kBoth);
      const auto alike = static_cast<double>(CountAligned(partners));
      if (alike < kPlaceAlike * static_cast<double>(keys.size())) continue;
      votes.Add(lanes_[lane], static_cast<size_t>(begin), partners);
      any = true;
    }
    if (any) {
      votes.Take(*target.lane, target.begin, Evidence::kReference, confidence, ++*instances, found);
    }
    return any;
  }

  const Grams& GramsOf(KeyParts parts) {
    const auto [place, is_new] = grams_.try_emplace(parts);
    if (!is_new) return place->second;
    for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      const std::span<const uint64_t> keys = lanes_[lane].Keys(parts);
      for (size_t i = 0; i + kGram <= keys.size(); ++i) {
        auto& places = place->second[HashOf(keys.subspan(i, kGram))];
        if (places.size() <= kMostPlacesOfGram) places.emplace_back(lane, i);
      }
    }
    return place->second;
  }

  /// Returns where most of the target matches (differences of positions), and nearly as good
  /// places.
  std::vector<Place> PlacesOf(std::span<const uint64_t> keys, KeyParts parts) {
    const Grams& grams = GramsOf(parts);
    std::map<std::pair<uint32_t, int64_t>, size_t> buckets;
    for (size_t i = 0; i + kGram <= keys.size(); ++i) {
      const auto found = grams.find(HashOf(keys.subspan(i, kGram)));
      if (found == grams.end() || found->second.size() > kMostPlacesOfGram) continue;
      for (const auto& [lane, position] : found->second) {
        const int64_t diagonal = static_cast<int64_t>(position) - static_cast<int64_t>(i);
        ++buckets[{lane, diagonal}];
      }
    }
    size_t most = 0;
    for (const auto& [bucket, count] : buckets) most = std::max(most, count);
    std::vector<Place> places;
    for (const auto& [bucket, count] : buckets) {
      constexpr size_t kTenths = 10;
      constexpr size_t kNearlyAsGood = 9;
      if (kTenths * count >= kNearlyAsGood * most && count > 0) {
        places.push_back({bucket.first, bucket.second});
      }
    }
    if (places.size() <= kMostPlaces) return places;
    std::vector<Place> some;
    for (size_t i = 0; i < kMostPlaces; ++i)
      some.push_back(places[i * places.size() / kMostPlaces]);
    return some;
  }

  std::vector<Lane> lanes_;
  std::map<KeyParts, Grams> grams_;
};

// Numbers of instances, distinct for what finds them.
constexpr uint32_t kFirstOfReference = uint32_t{1} << 30;
constexpr uint32_t kFirstOfCaptures = uint32_t{1} << 31;

/// Adds ops from the file's own captures to kernels of `lanes` without one, unordered.
void InferFromCaptures(const std::vector<Lane>& lanes, PlaceKeys* keys,
                       std::vector<Inferred>* found) {
  if (lanes.empty() || lanes.front().joined().trace().captured.empty()) return;
  const Joined& joined = lanes.front().joined();
  uint32_t instances = kFirstOfCaptures;
  ByCapture by_capture(joined, keys, Evidence::kCapture);
  std::vector<Lane> replays = ReplaysOf(joined, keys);
  for (const Lane& lane : lanes) by_capture.AddUnlaunched(lane, keys, &replays);
  by_capture.Explain(replays, &instances, found);
}

/// Adds ops from another recording of the program to kernels of `lanes` without one, unordered.
void InferFromReference(const std::vector<Lane>& lanes, const Joined& reference,
                        std::vector<Inferred>* found) {
  if (lanes.empty()) return;
  const Joined& joined = lanes.front().joined();
  PlaceKeys keys(joined.trace());
  PlaceKeys reference_keys(reference.trace());
  uint32_t instances = kFirstOfReference;
  ByCapture by_capture(reference, &reference_keys, Evidence::kReference);
  std::vector<Lane> replays = ReplaysOf(joined, &keys);
  for (const Lane& lane : lanes) by_capture.AddUnlaunched(lane, &keys, &replays);
  const std::vector<bool> explained = by_capture.Explain(replays, &instances, found);
  ByKernels by_kernels(reference, &reference_keys);
  for (size_t i = 0; i < replays.size(); ++i) {
    if (explained[i]) continue;
    const Segment whole{&replays[i], 0, replays[i].size()};
    by_kernels.Explain(whole, PartsOf(replays[i], 0, replays[i].size()), &instances, found);
  }
  // Kernels without any launch.
  for (const Lane& lane : lanes) {
    for (size_t begin = 0; begin < lane.size();) {
      size_t end = begin;
      while (end < lane.size() && lane.At(end).launch == kNoLaunch) ++end;
      by_kernels.Explain({&lane, begin, end}, PartsOf(lane, begin, end), &instances, found);
      begin = end + 1;
    }
  }
}

bool IsBefore(const Inferred& a, const Inferred& b) { return a.kernel < b.kernel; }

/// Sorts what was found by kernel. Of several results for one, the first counts.
void Settle(std::vector<Inferred>* found) {
  std::stable_sort(found->begin(), found->end(), IsBefore);
  const auto same = [](const Inferred& a, const Inferred& b) { return a.kernel == b.kernel; };
  found->erase(std::unique(found->begin(), found->end(), same), found->end());
}

/// Adds `others` to `all`, both settled. `displaces`: whether a result of `others` counts where
/// both have one.
void Merge(const std::vector<Inferred>& others,
           bool (*displaces)(const Inferred& other, const Inferred& own),
           std::vector<Inferred>* all) {
  std::vector<Inferred> merged;
  merged.reserve(all->size() + others.size());
  auto own = all->begin();
  for (const Inferred& other : others) {
    while (own != all->end() && IsBefore(*own, other)) merged.push_back(*own++);
    const bool both = own != all->end() && own->kernel == other.kernel;
    merged.push_back(both && !displaces(other, *own) ? *own : other);
    if (both) ++own;
  }
  merged.insert(merged.end(), own, all->end());
  *all = std::move(merged);
}

/// Whether both kernels record this extent, and differ.
bool Differ(const int32_t (&a)[3], const int32_t (&b)[3]) {
  return a[0] >= 0 && b[0] >= 0 && !std::equal(a, a + 3, b);
}

}  // namespace

Inference::Inference(const Joined& joined, const Joined* reference, bool repetition,
                     bool captures) {
  captures = captures && !joined.trace().captured.empty();
  if (!repetition && !captures && reference == nullptr) return;
  const std::vector<Kernel>& kernels = joined.trace().kernels;
  if (std::none_of(kernels.begin(), kernels.end(), HasNoRecordedOp)) return;
  PlaceKeys keys(joined.trace());
  const std::vector<Lane> lanes = LanesOf(joined, &keys);
  if (repetition) InferFromRepetition(lanes, &all_);
  Settle(&all_);
  if (captures) {
    std::vector<Inferred> others;
    InferFromCaptures(lanes, &keys, &others);
    Settle(&others);
    Merge(
        others,
        [](const Inferred& other, const Inferred& own) {
          return other.confidence >= own.confidence || (!own.layer && other.layer);
        },
        &all_);
  }
  if (reference != nullptr) {
    std::vector<Inferred> others;
    InferFromReference(lanes, *reference, &others);
    Settle(&others);  // Captures precede executed kernels.
    // What the file tells has precedence, unless only the other result has the layer.
    Merge(
        others,
        [](const Inferred& other, const Inferred& own) { return !own.layer && other.layer; },
        &all_);
  }
  CompareSizes(joined, reference);
}

void Inference::CompareSizes(const Joined& joined, const Joined* reference) {
  for (Inferred& one : all_) {
    if (!one.arguments) continue;
    const Joined& source = one.evidence == Evidence::kReference ? *reference : joined;
    const KernelShape& own = joined.trace().ShapeOf(joined.trace().kernels[one.kernel]);
    const KernelShape& donor = source.trace().ShapeOf(KernelOf(source.trace(), one.donor));
    if (!Differ(own.grid, donor.grid) && !Differ(own.block, donor.block)) continue;
    one.arguments = false;
    one.confidence = std::min(one.confidence, Confidence::kMedium);
  }
}

const Inferred* Inference::Of(size_t kernel) const {
  const auto place =
      std::lower_bound(all_.begin(), all_.end(), kernel,
                       [](const Inferred& entry, size_t key) { return entry.kernel < key; });
  return place != all_.end() && place->kernel == kernel ? &*place : nullptr;
}

}  // namespace oplens::parse
