#ifndef OPLENS_PARSE_JOIN_EXPLAIN_H_
#define OPLENS_PARSE_JOIN_EXPLAIN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_model.h"

namespace oplens::parse {

/// Where a part of a lane stands in the steps around it.
enum class StepPlace {
  kWhole,    ///< It is one step.
  kEndsOne,  ///< A step ends with it; it may begin within one, and hold several.
  kBeginsOne,
};

/// What explains the untold kernels of one file by models of steps.
class Explainer {
 public:
  Explainer(Evidence evidence, std::vector<Inferred>* found)
      : evidence_(evidence), found_(*found) {}

  /// Tries the models on a part of a lane and takes the one that is most alike. Answers how many
  /// of its kernels it told.
  size_t Explain(const Segment& target, StepPlace place, std::span<const PlaceModel> models);

  /// Kernels that are alike with all around them: the op without the layer, where all known ones of
  /// the lane agree. `told`: which members have one already.
  void ExplainByContext(const Lane& lane, KeyParts parts, const std::vector<bool>& told);

  uint32_t NextInstance() { return ++instances_; }

 private:
  struct Fit {
    const PlaceModel* model = nullptr;
    std::vector<uint32_t>
        partners;  // By member of the target; places, counted on over repetitions.
    size_t alike = 0;
  };

  static Fit FitOf(const Segment& target, StepPlace place, const PlaceModel& model);
  /// Whether what the target tells itself is what the model says.
  static bool Agrees(const Segment& target, const Fit& fit);
  size_t Take(const Segment& target, const Fit& fit);
  Confidence ConfidenceOf(const Fit& fit, const PlaceModel::Place& place, size_t run) const;

  Evidence evidence_;
  std::vector<Inferred>& found_;
  uint32_t instances_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_EXPLAIN_H_
