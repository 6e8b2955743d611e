#include "parse/join/inference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "parse/join/align.h"
#include "parse/join/joined.h"
#include "parse/join/place_model.h"
#include "parse/join/repetition.h"

namespace oplens::parse {
namespace {

/// Required share of equal members in the larger of the two.
constexpr double kCaptureAlike = 0.95;
constexpr double kPlaceAlike = 0.9;
/// Consecutive members by which places of other recordings are found; fewer match too often.
constexpr size_t kGram = 6;
constexpr size_t kMostPlacesOfGram = 64;
constexpr size_t kMostPlaces = 8;
constexpr size_t kReferenceLeastRun = 16;
/// Greatest shift by insertions.
constexpr int64_t kReferenceSlack = 64;
/// Upper bound on comparisons per member of a lane.
constexpr size_t kMostCompared = 32;
/// Upper bound on captures whose order is searched.
constexpr size_t kMostOrdered = 512;

uint64_t HashOf(std::span<const uint64_t> keys) {
  uint64_t hash = keys.size();
  for (const uint64_t key : keys) hash = MixHash(hash, key);
  return hash;
}

const Kernel& ReferenceKernelAt(const Lane& lane, size_t i) {
  return lane.joined().trace().kernels[lane.KernelOf(i)];
}

/// Start of a member of a reference's lane, or of its capturing call.
int64_t BeginOf(const Lane& lane, size_t i) {
  const Kernel& kernel = ReferenceKernelAt(lane, i);
  if (!IsCaptured(kernel)) return kernel.start_ns;
  return lane.joined().trace().launches[kernel.launch].start_ns;
}

/// What all fitting places say about each member of a target.
class Votes {
 public:
  explicit Votes(size_t members) : votes_(members) {}

  void Add(const Lane& source, size_t first, const std::vector<uint32_t>& partners) {
    for (size_t i = 0; i < partners.size(); ++i) {
      if (partners[i] == kUnaligned) continue;
      const size_t member = first + partners[i];
      if (HasNoRecordedOp(ReferenceKernelAt(source, member))) continue;
      const KnownOp& told = source.KnownOpAt(member);
      Vote& vote = votes_[i];
      if (vote.count++ == 0) {
        vote.told = told;
        vote.donor = source.KernelOf(member);
        vote.donor_begin_ns = BeginOf(source, first);
        continue;
      }
      vote.op_differs |= vote.told.op != told.op;
      vote.layer_differs |= vote.told.layer != told.layer;
    }
  }

  void Take(const Lane& target, size_t begin, Confidence confidence, uint32_t instance,
            std::vector<Inferred>* found) const {
    for (size_t i = 0; i < votes_.size(); ++i) {
      const Vote& vote = votes_[i];
      if (vote.count == 0 || vote.op_differs || vote.told.op == 0) continue;
      if (!HasNoRecordedOp(ReferenceKernelAt(target, begin + i))) continue;
      const auto shift_ns = static_cast<int64_t>(static_cast<uint64_t>(target.StartOf(begin)) -
                                                 static_cast<uint64_t>(vote.donor_begin_ns));
      found->push_back({target.KernelOf(begin + i), vote.donor, instance, shift_ns,
                        Evidence::kReference, confidence,
                        vote.told.layer != 0 && !vote.layer_differs});
    }
  }

 private:
  struct Vote {
    KnownOp told;
    uint32_t donor = 0;
    int64_t donor_begin_ns = 0;
    uint32_t count = 0;
    bool op_differs = false;
    bool layer_differs = false;
  };
  std::vector<Vote> votes_;
};

size_t CountAligned(const std::vector<uint32_t>& partners) {
  return partners.size() -
         static_cast<size_t>(std::count(partners.begin(), partners.end(), kUnaligned));
}

/// The kernels of each replay of a graph, in the order of replays.
std::vector<Lane> ReplaysOf(const Joined& joined, PlaceKeys* keys) {
  const Trace& trace = joined.trace();
  std::map<std::pair<int64_t, LaunchIndex>, std::vector<uint32_t>> replays;
  for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    if (!kernel.timed() || !kernel.graph || !HasNoRecordedOp(kernel) ||
        kernel.launch == kNoLaunch) {
      continue;
    }
    replays[{trace.launches[kernel.launch].start_ns, kernel.launch}].push_back(i);
  }
  std::vector<Lane> lanes;
  for (auto& [launch, members] : replays) lanes.emplace_back(joined, keys, std::move(members));
  return lanes;
}

/// The kernels that each capture of a reference put into its graph, in the order of captures.
std::vector<Lane> CapturesOf(const Joined& reference, PlaceKeys* keys) {
  const Trace& trace = reference.trace();
  std::map<int32_t, std::vector<uint32_t>> captures;
  for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
    if (IsCaptured(trace.kernels[i])) captures[trace.kernels[i].stream_id].push_back(i);
  }
  std::vector<Lane> lanes;
  for (auto& [number, members] : captures) {
    std::stable_sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) {
      return trace.launches[trace.kernels[a].launch].start_ns <
             trace.launches[trace.kernels[b].launch].start_ns;
    });
    lanes.emplace_back(reference, keys, std::move(members));
  }
  return lanes;
}

bool IsNameless(const Lane& capture) {
  for (size_t i = 0; i < capture.size(); ++i) {
    if (ReferenceKernelAt(capture, i).name != 0) return false;
  }
  return true;
}

bool IsOnOneStream(const Lane& lane) {
  for (size_t i = 1; i < lane.size(); ++i) {
    if (ReferenceKernelAt(lane, i).stream_id != ReferenceKernelAt(lane, 0).stream_id) return false;
  }
  return true;
}

/// Explains replays of graphs by captures of a reference.
class ByCapture {
 public:
  ByCapture(const Joined& reference, PlaceKeys* keys) : captures_(CapturesOf(reference, keys)) {
    for (size_t i = 0; i < captures_.size(); ++i) nameless_.push_back(IsNameless(captures_[i]));
  }

  /// Adds the replays in a lane without launches (correlation id 0: the graph is older than the
  /// recording): kernels that match a whole capture.
  void AddUnlaunched(const Lane& lane, PlaceKeys* keys, std::vector<Lane>* replays) const {
    const std::span<const uint64_t> all = lane.Keys(KeyParts::kName);
    size_t budget = kMostCompared * all.size();
    for (size_t begin = 0; begin < all.size();) {
      const size_t size = SizeOfReplayAt(lane, begin, &budget);
      if (size > 0) {
        std::vector<uint32_t> members;
        for (size_t i = begin; i < begin + size; ++i) members.push_back(lane.KernelOf(i));
        replays->emplace_back(lane.joined(), keys, std::move(members));
      }
      begin += std::max<size_t>(size, 1);
    }
  }

  /// Returns which replays it explained.
  std::vector<bool> Explain(const std::vector<Lane>& replays, uint32_t* instances,
                            std::vector<Inferred>* found) {
    std::vector<bool> explained(replays.size(), false);
    if (captures_.empty()) return explained;
    std::vector<const std::vector<size_t>*> fits;
    for (const Lane& replay : replays) fits.push_back(&FitsOf(replay));
    const std::optional<size_t> offset = OrderOf(fits);
    for (size_t i = 0; i < replays.size(); ++i) {
      if (fits[i]->empty()) continue;
      explained[i] = true;
      std::vector<size_t> chosen = *fits[i];
      const bool several = chosen.size() > 1;
      if (offset) chosen = {(i + *offset) % captures_.size()};
      Votes votes(replays[i].size());
      bool exact = true;
      for (const size_t capture : chosen) {
        const std::vector<uint32_t> partners = PartnersOf(replays[i], capture);
        exact = exact && !nameless_[capture] && CountAligned(partners) == replays[i].size();
        votes.Add(captures_[capture], 0, partners);
      }
      votes.Take(replays[i], 0, exact && !several ? Confidence::kHigh : Confidence::kMedium,
                 ++*instances, found);
    }
    return explained;
  }

 private:
  /// Returns the size of the longest capture that the unlaunched kernels from `begin` match; 0:
  /// none.
  size_t SizeOfReplayAt(const Lane& lane, size_t begin, size_t* budget) const {
    if (ReferenceKernelAt(lane, begin).launch != kNoLaunch) return 0;
    const std::span<const uint64_t> all = lane.Keys(KeyParts::kName);
    size_t longest = 0;
    for (size_t i = 0; i < captures_.size(); ++i) {
      const std::span<const uint64_t> own = captures_[i].Keys(KeyParts::kName);
      if (nameless_[i] || own.size() < kReferenceLeastRun || own.size() > all.size() - begin)
        continue;
      size_t alike = 0;
      while (alike < own.size() && *budget > 0 && own[alike] == all[begin + alike] &&
             ReferenceKernelAt(lane, begin + alike).launch == kNoLaunch) {
        ++alike;
        --*budget;
      }
      if (alike == own.size()) longest = std::max(longest, alike);
    }
    return longest;
  }

  std::vector<uint32_t> PartnersOf(const Lane& replay, size_t capture) const {
    const Lane& source = captures_[capture];
    if (nameless_[capture]) {
      // By the order of nodes only, which is valid on one stream.
      std::vector<uint32_t> partners(replay.size(), kUnaligned);
      if (replay.size() != source.size() || !IsOnOneStream(replay)) return partners;
      for (uint32_t i = 0; i < partners.size(); ++i) partners[i] = i;
      return partners;
    }
    return Align(replay.Keys(KeyParts::kName), source.Keys(KeyParts::kName), AlignEnds::kBoth);
  }

  /// Returns the captures that may have made the graph of a replay.
  const std::vector<size_t>& FitsOf(const Lane& replay) {
    const auto [place, is_new] = fits_.try_emplace(HashOf(replay.Keys(KeyParts::kName)));
    std::vector<size_t>& fits = place->second;
    if (!is_new) return fits;
    const std::span<const uint64_t> keys = replay.Keys(KeyParts::kName);
    for (size_t i = 0; i < captures_.size(); ++i) {
      const std::span<const uint64_t> own = captures_[i].Keys(KeyParts::kName);
      if (!nameless_[i] && std::equal(own.begin(), own.end(), keys.begin(), keys.end())) {
        fits.push_back(i);
      }
    }
    if (!fits.empty()) return fits;
    for (size_t i = 0; i < captures_.size(); ++i) {
      const auto most = static_cast<double>(std::max(captures_[i].size(), replay.size()));
      const auto least = static_cast<double>(std::min(captures_[i].size(), replay.size()));
      if (least < kCaptureAlike * most) continue;
      const auto alike = static_cast<double>(CountAligned(PartnersOf(replay, i)));
      if (alike >= kCaptureAlike * most) fits.push_back(i);
    }
    return fits;
  }

  /// If the replays repeat all graphs in the order of their captures, returns the capture of the
  /// first; nullopt if no order fits, or several do.
  std::optional<size_t> OrderOf(const std::vector<const std::vector<size_t>*>& fits) const {
    const size_t count = captures_.size();
    if (count < 2 || count > kMostOrdered || fits.size() < count) return std::nullopt;
    std::optional<size_t> found;
    for (size_t offset = 0; offset < count; ++offset) {
      bool all = true;
      for (size_t i = 0; i < fits.size() && all; ++i) {
        all = std::binary_search(fits[i]->begin(), fits[i]->end(), (i + offset) % count);
      }
      if (!all) continue;
      if (found) return std::nullopt;
      found = offset;
    }
    return found;
  }

  std::vector<Lane> captures_;
  std::vector<bool> nameless_;
  std::unordered_map<uint64_t, std::vector<size_t>> fits_;  // By the hash of a replay's keys.
};

/// Explains kernels by those that ran in a reference.
class ByKernels {
 public:
  ByKernels(const Joined& reference, PlaceKeys* keys) : lanes_(LanesOf(reference, keys)) {}

  void Explain(const Segment& target, KeyParts parts, uint32_t* instances,
               std::vector<Inferred>* found) {
    if (target.size() < kReferenceLeastRun) return;
    const std::span<const uint64_t> keys = target.Keys(parts);
    Votes votes(keys.size());
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
      votes.Take(*target.lane, target.begin, Confidence::kMedium, ++*instances, found);
    }
  }

 private:
  struct Place {
    size_t lane;
    int64_t diagonal;
  };
  using Grams = std::unordered_map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;

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

/// Adds ops from another recording of the program to kernels of `lanes` without one, unordered.
void InferFromReference(const std::vector<Lane>& lanes, const Joined& reference,
                        std::vector<Inferred>* found) {
  if (lanes.empty()) return;
  const Joined& joined = lanes.front().joined();
  PlaceKeys keys(joined.trace());
  PlaceKeys reference_keys(reference.trace());
  // Distinct from those of repetitions.
  uint32_t instances = uint32_t{1} << 30;
  ByCapture by_capture(reference, &reference_keys);
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
      while (end < lane.size() && ReferenceKernelAt(lane, end).launch == kNoLaunch) ++end;
      by_kernels.Explain({&lane, begin, end}, PartsOf(lane, begin, end), &instances, found);
      begin = end + 1;
    }
  }
}

}  // namespace

Inference::Inference(const Joined& joined, const Joined* reference, bool repetition) {
  if (!repetition && reference == nullptr) return;
  const std::vector<Kernel>& kernels = joined.trace().kernels;
  if (std::none_of(kernels.begin(), kernels.end(), HasNoRecordedOp)) return;
  PlaceKeys keys(joined.trace());
  const std::vector<Lane> lanes = LanesOf(joined, &keys);
  if (repetition) InferFromRepetition(lanes, &all_);
  const auto by_kernel = [](const Inferred& a, const Inferred& b) { return a.kernel < b.kernel; };
  std::sort(all_.begin(), all_.end(), by_kernel);
  if (reference == nullptr) return;
  std::vector<Inferred> others;
  InferFromReference(lanes, *reference, &others);
  // The first result for a kernel counts: captures precede executed kernels.
  std::stable_sort(others.begin(), others.end(), by_kernel);
  others.erase(
      std::unique(others.begin(), others.end(),
                  [](const Inferred& a, const Inferred& b) { return a.kernel == b.kernel; }),
      others.end());
  // The file's own steps have precedence, unless only the other result has the layer.
  for (const Inferred& other : others) {
    const auto own = std::lower_bound(all_.begin(), all_.end(), other, by_kernel);
    if (own == all_.end() || own->kernel != other.kernel) continue;
    if (!own->layer && other.layer) *own = other;
  }
  const size_t count = all_.size();
  for (const Inferred& other : others) {
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto own = std::lower_bound(all_.begin(), end, other, by_kernel);
    if (own == end || own->kernel != other.kernel) all_.push_back(other);
  }
  std::sort(all_.begin(), all_.end(), by_kernel);
}

const Inferred* Inference::Of(size_t kernel) const {
  const auto place =
      std::lower_bound(all_.begin(), all_.end(), kernel,
                       [](const Inferred& entry, size_t key) { return entry.kernel < key; });
  return place != all_.end() && place->kernel == kernel ? &*place : nullptr;
}

}  // namespace oplens::parse
