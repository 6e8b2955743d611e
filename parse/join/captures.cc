#include "parse/join/captures.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/hash.h"
#include "parse/join/align.h"
#include "parse/join/donor_votes.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"

namespace oplens::parse {
namespace {

/// Required share of equal members in the larger of the two.
constexpr double kCaptureAlike = 0.95;
/// Upper bound on comparisons per member of a lane.
constexpr size_t kMostCompared = 32;
/// Upper bound on captures whose order is searched.
constexpr size_t kMostOrdered = 512;

/// The kernels that each capture put into its graph, in the order of captures.
std::vector<Lane> CapturesOf(const Joined& source, PlaceKeys* keys) {
  const Trace& trace = source.trace();
  std::map<int32_t, std::vector<uint32_t>> captures;
  for (size_t i = 0; i < trace.captured.size(); ++i) {
    captures[trace.captured[i].stream_id].push_back(
        static_cast<uint32_t>(source.work().FirstCaptured() + i));
  }
  std::vector<Lane> lanes;
  for (auto& [number, members] : captures) {
    std::stable_sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) {
      return trace.launches[KernelOf(trace, a).launch].start_ns <
             trace.launches[KernelOf(trace, b).launch].start_ns;
    });
    lanes.emplace_back(source, keys, std::move(members));
  }
  return lanes;
}

bool IsNameless(const Lane& capture) {
  for (size_t i = 0; i < capture.size(); ++i) {
    if (capture.At(i).name != 0) return false;
  }
  return true;
}

bool IsOnOneStream(const Lane& lane) {
  for (size_t i = 1; i < lane.size(); ++i) {
    if (lane.At(i).stream_id != lane.At(0).stream_id) return false;
  }
  return true;
}

/// When a replay began: its launch, or its first kernel.
int64_t BeginOfReplay(const Lane& replay) {
  const LaunchIndex launch = replay.At(0).launch;
  if (launch == kNoLaunch) return replay.StartOf(0);
  return replay.joined().trace().launches[launch].start_ns;
}

/// Whether equal calls of a capture launch equal kernels, if the replay is taken for it member by
/// member: the check of a match by number alone.
bool EqualCallsHaveEqualNames(const Lane& replay, const Lane& capture) {
  const std::span<const uint64_t> names = replay.Keys(KeyParts::kName);
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, size_t>> kernels;  // Of each place.
  uint64_t nth = 0;  // Of the kernels of the call.
  for (size_t i = 0; i < names.size(); ++i) {
    const KnownOp& told = capture.KnownOpAt(i);
    if (told.op == 0) continue;
    const bool same = i > 0 && capture.KnownOpAt(i - 1).op == told.op &&
                      capture.KnownOpAt(i - 1).layer == told.layer;
    nth = same ? nth + 1 : 0;
    ++kernels[MixHash(told.op, nth)][names[i]];
  }
  size_t repeated = 0;
  size_t alike = 0;
  for (const auto& [place, counts] : kernels) {
    size_t all = 0;
    size_t most = 0;
    for (const auto& [name, count] : counts) {
      all += count;
      most = std::max(most, count);
    }
    if (all < 2) continue;
    repeated += all;
    alike += most;
  }
  return static_cast<double>(alike) >= kCaptureAlike * static_cast<double>(repeated);
}

}  // namespace

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

ByCapture::ByCapture(const Joined& source, PlaceKeys* keys, Evidence evidence)
    : evidence_(evidence), captures_(CapturesOf(source, keys)) {
  for (const Lane& capture : captures_) nameless_.push_back(IsNameless(capture));
}

void ByCapture::AddUnlaunched(const Lane& lane, PlaceKeys* keys, std::vector<Lane>* replays) const {
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

std::vector<bool> ByCapture::Explain(const std::vector<Lane>& replays, uint32_t* instances,
                                     std::vector<Inferred>* found) {
  std::vector<bool> explained(replays.size(), false);
  if (captures_.empty()) return explained;
  std::vector<std::vector<size_t>> fits;
  for (const Lane& replay : replays) fits.push_back(FitsOf(replay));
  const std::optional<size_t> offset = OrderOf(fits);
  for (size_t i = 0; i < replays.size(); ++i) {
    if (fits[i].empty()) continue;
    explained[i] = true;
    std::vector<size_t> chosen = std::move(fits[i]);
    const bool several = chosen.size() > 1;
    if (offset) chosen = {(i + *offset) % captures_.size()};
    DonorVotes votes(replays[i].size());
    bool exact = true;
    for (const size_t capture : chosen) {
      const std::vector<uint32_t> partners = PartnersOf(replays[i], capture);
      exact = exact && !nameless_[capture] && CountAligned(partners) == replays[i].size();
      votes.Add(captures_[capture], 0, partners);
    }
    // A few names may be those of another graph of the file, captured before the recording.
    const bool too_few = of_same_file() && replays[i].size() < kReferenceLeastRun;
    votes.Take(replays[i], 0, evidence_,
               exact && !several && !too_few ? Confidence::kHigh : Confidence::kMedium,
               ++*instances, found);
  }
  return explained;
}

/// Returns the size of the longest capture that the unlaunched kernels from `begin` match; 0: none.
size_t ByCapture::SizeOfReplayAt(const Lane& lane, size_t begin, size_t* budget) const {
  if (lane.At(begin).launch != kNoLaunch) return 0;
  const std::span<const uint64_t> all = lane.Keys(KeyParts::kName);
  size_t longest = 0;
  for (size_t i = 0; i < captures_.size(); ++i) {
    const std::span<const uint64_t> own = captures_[i].Keys(KeyParts::kName);
    if (nameless_[i] || own.size() < kReferenceLeastRun || own.size() > all.size() - begin)
      continue;
    size_t alike = 0;
    while (alike < own.size() && *budget > 0 && own[alike] == all[begin + alike] &&
           lane.At(begin + alike).launch == kNoLaunch) {
      ++alike;
      --*budget;
    }
    if (alike == own.size()) longest = std::max(longest, alike);
  }
  return longest;
}

std::vector<uint32_t> ByCapture::PartnersOf(const Lane& replay, size_t capture) const {
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

/// Whether a capture that is alike enough may be the replay's, by what is known besides names.
bool ByCapture::MayBe(const Lane& replay, size_t capture) const {
  const Lane& source = captures_[capture];
  if (nameless_[capture] && !EqualCallsHaveEqualNames(replay, source)) return false;
  if (!of_same_file()) return true;
  // Before its capture ended, the graph was not there.
  if (BeginOfReplay(replay) < BeginOf(source, source.size() - 1)) return false;
  return !nameless_[capture] || source.size() >= kReferenceLeastRun;
}

/// Returns the captures that are alike to a replay.
const std::vector<size_t>& ByCapture::AlikeOf(const Lane& replay) {
  const std::span<const uint64_t> keys = replay.Keys(KeyParts::kName);
  uint64_t hash = keys.size();
  for (const uint64_t key : keys) hash = MixHash(hash, key);
  const auto [place, is_new] = alike_.try_emplace(hash);
  std::vector<size_t>& fits = place->second;
  if (!is_new) return fits;
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

/// Returns the captures that may have made the graph of a replay, in order.
std::vector<size_t> ByCapture::FitsOf(const Lane& replay) {
  std::vector<size_t> fits = AlikeOf(replay);
  std::erase_if(fits, [&](size_t capture) { return !MayBe(replay, capture); });
  return fits;
}

/// If the replays repeat all graphs in the order of their captures, returns the capture of the
/// first; nullopt if no order fits, or several do.
std::optional<size_t> ByCapture::OrderOf(const std::vector<std::vector<size_t>>& fits) const {
  const size_t count = captures_.size();
  if (count < 2 || count > kMostOrdered || fits.size() < count) return std::nullopt;
  std::optional<size_t> found;
  for (size_t offset = 0; offset < count; ++offset) {
    bool all = true;
    for (size_t i = 0; i < fits.size() && all; ++i) {
      all = std::binary_search(fits[i].begin(), fits[i].end(), (i + offset) % count);
    }
    if (!all) continue;
    if (found) return std::nullopt;
    found = offset;
  }
  return found;
}

}  // namespace oplens::parse
