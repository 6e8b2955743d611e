#ifndef OPLENS_TEST_DIFF_MADE_SIDES_H_
#define OPLENS_TEST_DIFF_MADE_SIDES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/diff/side.h"

namespace oplens::test {

/// What one call of a layer runs in each step of a made-up run.
struct MadePlace {
  std::string layer;
  std::string op;
  std::string shape = "(32,64)";
  std::string kernel = "kernel";
  int64_t count = 1;
  int64_t time_ns = 1000;
  bool tensor_cores = false;
  std::string dir = "fprop";
  std::string work = "compute";
};

/// A run as the views of a comparison have it: its places run one after the other, then the host
/// makes the GPU wait.
struct MadeSide {
  std::vector<MadePlace> places;
  int64_t steps = 10;
  int64_t idle_ns = 500;
  double noise = 0;  ///< Relative standard deviation of each time in each step.
  uint32_t seed = 1;
  int64_t late_every = 0;  ///< Each so many steps one waits late_ns more; 0: none.
  int64_t late_ns = 0;
  std::map<std::string, std::string> facts = {{"gpu", "GPU A"}};
  /// Which of its steps it has, in this order; empty: all. The same may come several times.
  std::vector<int64_t> picked = {};

  /// The tables of the first three plans of a DiffPlan.
  std::unique_ptr<prof::KeptTables> Tables() const;
};

/// Compares two of them by `operators`. The tables live as long as `keep`.
prof::Diff CompareMade(const MadeSide& base, const MadeSide& now,
                       std::vector<std::unique_ptr<prof::KeptTables>>* keep);

/// `layers` layers of three ops each.
MadeSide MadeNetwork(int layers);

/// The rows of a table that changed, as "change layer/op".
std::vector<std::string> ChangedRows(const prof::DiffTable& table);

}  // namespace oplens::test

#endif  // OPLENS_TEST_DIFF_MADE_SIDES_H_
