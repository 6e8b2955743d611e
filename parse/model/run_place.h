#ifndef OPLENS_PARSE_MODEL_RUN_PLACE_H_
#define OPLENS_PARSE_MODEL_RUN_PLACE_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/vocabulary/rank_variables.h"

namespace oplens {

/// The place of a process in a distributed run; -1: unknown.
struct RunPlace {
  int64_t rank = -1;
  int64_t world_size = -1;
  int64_t local_rank = -1;  ///< Among the processes of its node.
  int64_t node = -1;        ///< Number of the node, not its name.
  friend bool operator==(const RunPlace&, const RunPlace&) = default;
};

/// Collects what the environment of a process says about its place in the run.
class RankVariables {
 public:
  RankVariables();

  /// Ignores names of no known launcher and values other than numbers from 0 to 2^31 - 1.
  void Take(std::string_view name, std::string_view value);
  void Take(std::string_view name, int64_t value);

  /// Returns the values of the first launcher that gives a rank within a world of two or more, and
  /// a job step if it has a variable for that.
  RunPlace Place() const;

 private:
  std::array<std::array<int64_t, markers::kRankFactCount>, markers::kLauncherCount> values_;
};

/// Returns the rank in a path: "rank" and a number in the name of the file, or else of its folder:
/// "run/rank3.json", "run/trace_rank-3_step5.json.gz", "run/rank_3/net.sql"; -1: none.
int64_t RankOfPath(std::string_view path);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RUN_PLACE_H_
