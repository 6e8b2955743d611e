#ifndef OPLENS_PARSE_JOIN_CAPTURES_H_
#define OPLENS_PARSE_JOIN_CAPTURES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_keys.h"
#include "parse/join/place_model.h"
#include "parse/model/evidence.h"

namespace oplens::parse {

/// The fewest kernels that tell their place by names, or a capture by their number alone.
inline constexpr size_t kReferenceLeastRun = 16;

/// Returns the kernels of each replay of a graph without a recorded capture, in the order of
/// replays.
std::vector<Lane> ReplaysOf(const Joined& joined, PlaceKeys* keys);

/// Explains replays of graphs by what was captured (Trace::captured), in the same file or in a
/// reference: docs/correlation.md, "Captures".
class ByCapture {
 public:
  /// `source`: where the captures are. `evidence`: kCapture if the replays are of the same file,
  /// else kReference.
  ByCapture(const Joined& source, PlaceKeys* keys, Evidence evidence);

  /// Adds the replays in a lane without launches (correlation id 0: the graph is older than the
  /// recording): kernels that match a whole capture.
  void AddUnlaunched(const Lane& lane, PlaceKeys* keys, std::vector<Lane>* replays) const;

  /// Returns which replays it explained.
  std::vector<bool> Explain(const std::vector<Lane>& replays, uint32_t* instances,
                            std::vector<Inferred>* found);

 private:
  bool of_same_file() const { return evidence_ == Evidence::kCapture; }
  size_t SizeOfReplayAt(const Lane& lane, size_t begin, size_t* budget) const;
  std::vector<uint32_t> PartnersOf(const Lane& replay, size_t capture) const;
  bool MayBe(const Lane& replay, size_t capture) const;
  const std::vector<size_t>& AlikeOf(const Lane& replay);
  std::vector<size_t> FitsOf(const Lane& replay);
  std::optional<size_t> OrderOf(const std::vector<std::vector<size_t>>& fits) const;

  Evidence evidence_;
  std::vector<Lane> captures_;
  std::vector<bool> nameless_;
  std::unordered_map<uint64_t, std::vector<size_t>> alike_;  // By the hash of a replay's keys.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_CAPTURES_H_
