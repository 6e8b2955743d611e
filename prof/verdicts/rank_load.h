#ifndef OPLENS_PROF_VERDICTS_RANK_LOAD_H_
#define OPLENS_PROF_VERDICTS_RANK_LOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sums.h"

namespace oplens::prof {

/// What a host does that keeps a GPU without work.
enum class HostWork : uint8_t { kDataLoader, kGarbage, kCheckpoint, kAllocator };
inline constexpr size_t kHostWorks = 4;

/// What of a step is a rank's own, whatever it waits for. Times in ns.
struct LoadStep {
  int64_t number = 0;
  bool steady = true;
  Sum total_ns = 0;    ///< Including its device work.
  Sum compute_ns = 0;  ///< Compute kernels run.
  Sum other_ns = 0;    ///< Neither compute nor communication runs.
  Sum copy_ns = 0;     ///< Part of it in which copies or fills run.
  std::array<Sum, kHostWorks> host_ns = {};
  // Of its calls that were matched on other ranks:
  Sum wait_ns = 0;
  Sum calls = 0;
};

/// An op over all layers, or a layer with all its ops (`op` is empty).
struct LoadPlace {
  static constexpr size_t kLeastBytes = 5;  ///< Minimum when saved.

  std::string op;
  std::string layer;
  Sum kernels = 0;
  Sum flops = 0;              ///< Of the kernels whose FLOPs are known.
  std::vector<Sum> times_ns;  ///< By index of the step.
};

/// Matched calls of one process group in a step.
struct GroupStep {
  Sum calls = 0;
  Sum transfer_ns = 0;
  Sum exposed_ns = 0;  ///< Of the transfers, at most what no compute hides.
  // Of its all_to_all, of which each rank ends with its own messages, on aligned clocks:
  Sum ends = 0;            ///< Calls.
  Balance end_ns = 0;      ///< How much later they ended than on the first rank of the group.
  Sum end_exposed_ns = 0;  ///< Of their latencies, what no compute hides.
};

struct LoadGroup {
  std::string name;   ///< As recorded,
  std::string ranks;  ///< and its ranks: "[0, 2]"; "": unknown.
  int64_t size = -1;
  std::map<uint32_t, GroupStep> steps;  ///< By index of the step.

  void Merge(const LoadGroup& other) {
    if (steps.empty()) *this = other;
  }
};

/// The load of a rank in one profile.
struct RankLoad {
  static constexpr size_t kLeastBytes = 12;  ///< Minimum when saved.
  static constexpr size_t kMostOps = 24;
  static constexpr size_t kMostLayers = 128;
  /// Maximum number of times over places and steps: more steps leave fewer places.
  static constexpr size_t kMostTimes = 4'096;

  int64_t number = -1;  ///< Of the rank; -1: not recorded.
  int64_t world_size = -1;
  std::string node;  ///< Number, or a MarkedHost; "": unknown.
  std::string gpu;   ///< "": unknown.
  int64_t origin_ns = 0;
  std::optional<int64_t> began_ns;  ///< Time of day of its first event, since 1970.
  std::vector<LoadStep> steps;      ///< By start.
  std::vector<LoadPlace> places;
  std::map<std::string, LoadGroup> groups;  ///< By GroupIdentity.
  std::map<std::string, Sum> waited_ns;     ///< By the last rank of the calls.
  /// Likewise in sends and receives, in which ranks of a pipeline wait for their peers anyway.
  std::map<std::string, Sum> peers_ns;

  /// Why it cannot have been saved; "": it can.
  std::string_view Problem() const {
    for (const LoadPlace& place : places) {
      if (place.times_ns.size() != steps.size()) return "a place does not have a time in each step";
    }
    for (const auto& [key, group] : groups) {
      if (!group.steps.empty() && group.steps.rbegin()->first >= steps.size()) {
        return "a group meets in a step that does not exist";
      }
    }
    return "";
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_RANK_LOAD_H_
