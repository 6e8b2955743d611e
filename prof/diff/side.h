#ifndef OPLENS_PROF_DIFF_SIDE_H_
#define OPLENS_PROF_DIFF_SIDE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/kept_rows.h"

namespace oplens::prof {

struct PlaceSums {
  uint32_t sample = 0;  ///< Index in Side::samples().
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t tc_ns = 0;
  int64_t tc_known_ns = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// An op's calls in a layer, in one direction, with these shapes; without a known op, a kernel.
struct SidePlace {
  enum Key : size_t { kLayer, kOp, kDir, kShape, kWork, kKernel, kKeys };
  std::array<std::string_view, kKeys> keys;  ///< kKernel: "" unless the op is unknown.
  std::vector<PlaceSums> sums;               ///< By sample; in others it ran nothing.
  /// The kernels in most of these samples, and those in any.
  std::set<std::string_view> usual_kernels;
  std::set<std::string_view> all_kernels;
  std::string_view main_kernel;  ///< The kernel with most time.
};

/// The views of one run that a comparison joins, as rows.
///
/// A sample is what means are over: a steady step of a rank; without steady steps, any step; for
/// records, whose steps have no length, steps with kernels.
class Side {
 public:
  struct Sample {
    std::string rank;
    std::string step;
    double total_ns = 0;
  };

  /// `overview` and `setup` as the views emit them, `places` by rank and step. All must outlive
  /// this object.
  Side(std::string name, const KeptRows& overview, const KeptRows& places, const KeptRows& setup);
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Sample>& samples() const { return samples_; }
  /// The index of a sample; nullopt: it does not count.
  std::optional<uint32_t> SampleOf(std::string_view rank, std::string_view step) const;
  /// By their order in the last of these steps; places that did not run in it are last.
  const std::vector<SidePlace>& places() const { return places_; }
  /// The values of a field of overview by sample; empty if any is unknown.
  std::vector<double> PartOf(std::string_view field) const;
  /// The distinct values of setup, by fact.
  const std::map<std::string, std::string>& facts() const { return facts_; }
  size_t ranks() const { return ranks_; }
  /// Whether steps have a length: there is an overview.
  bool has_steps() const { return has_steps_; }

 private:
  void FindSamples(const KeptRows& places);
  void FindPlaces(const KeptRows& places);

  std::string name_;
  const KeptRows& overview_;
  std::vector<Sample> samples_;
  std::vector<size_t> overview_rows_;  // By sample.
  std::map<std::pair<std::string, std::string>, uint32_t, std::less<>> sample_of_;
  std::vector<SidePlace> places_;
  std::map<std::string, std::string> facts_;
  size_t ranks_ = 0;
  bool has_steps_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_SIDE_H_
