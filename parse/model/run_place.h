#ifndef OPLENS_PARSE_MODEL_RUN_PLACE_H_
#define OPLENS_PARSE_MODEL_RUN_PLACE_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/vocabulary/rank_variables.h"

namespace oplens {

/// The place of a process in a distributed run; -1: not told.
struct RunPlace {
  int64_t rank = -1;
  int64_t world_size = -1;
  int64_t local_rank = -1;  ///< Among the processes of its node.
  int64_t node = -1;        ///< Number of the node, not its name.
  friend bool operator==(const RunPlace&, const RunPlace&) = default;
};

/// Gathers what the environment of a process says of its place.
class RankVariables {
 public:
  RankVariables();

  /// Names that are of no launcher and values that are no numbers (0 to 2^31 - 1) are passed over.
  void Take(std::string_view name, std::string_view value);
  void Take(std::string_view name, int64_t value);

  /// What the first launcher says that tells a rank and a world of two or more, in which it is.
  RunPlace Place() const;

 private:
  std::array<std::array<int64_t, markers::kRankFactCount>, markers::kLauncherCount> values_;
};

/// The rank that a path tells, by "rank" and a number in the name of the file or else in that of
/// its folder: "run/rank3.json", "run/trace_rank-3_step5.json.gz", "run/rank_3/net.sql"; -1: none.
int64_t RankOfPath(std::string_view path);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RUN_PLACE_H_
