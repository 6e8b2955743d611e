#ifndef OPLENS_PROF_VIEWS_KERNELS_MODEL_MATCH_H_
#define OPLENS_PROF_VIEWS_KERNELS_MODEL_MATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prof/views/common/model_plan.h"
#include "prof/views/kernels/product_sums.h"

namespace oplens::prof {

/// What kernels computed beside what a part of the model needs, in all counted steps.
struct PartMatch {
  std::string parts;   ///< "query+key+value", "attention"; "": not of the model.
  std::string sizes;   ///< "4096x6144", inputs and outputs of the matrix.
  double model = 0;    ///< FLOPs, forward and, in training, backward.
  double kernels = 0;  ///< FLOPs of kernels, without what is recomputed.
  double again = 0;    ///< Recomputed.
  std::string why;     ///< They differ by more than 1 % because of this; "": they do not.

  /// Percent; nullopt if the model needs none.
  std::optional<double> DifferencePct() const;
};

/// A run beside its model.
struct ModelMatch {
  /// What the counted steps took in: sequence and tokens of the rank (of a group of `shards`
  /// GPUs); nullopt: unknown.
  std::optional<double> tokens;
  std::optional<int64_t> sequence;
  double samples = 1;
  bool trains = false;  ///< Kernels of a backward pass ran; if none tells its direction, taken so.
  int64_t shards = 1;   ///< GPUs that each product is spread over, as its sizes tell.
  std::vector<PartMatch> parts;  ///< The model's in its order, then those of no part.
  PartMatch total;
  /// Of visible and of all pairs of attention, forward.
  double visible_attention = 0;
  double all_attention = 0;
};

/// Matches by sizes alone. Parts need `tokens`, which come from the plan, else from the rows of the
/// products that every token passes, else from a server's labels.
ModelMatch MatchModel(const ProductsOfRank& run, const ModelPlan& plan);

/// The FLOPs of one block of the model, forward and, in training, backward; nullopt if unknown.
std::optional<double> FlopsOfBlock(const ModelMatch& match, const ModelPlan& plan, int64_t block);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_MODEL_MATCH_H_
