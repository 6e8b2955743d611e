#ifndef OPLENS_PROF_VIEWS_COMMON_MODEL_PLAN_H_
#define OPLENS_PROF_VIEWS_COMMON_MODEL_PLAN_H_

#include <cstdint>
#include <optional>

#include "ops/network/conventions.h"
#include "ops/network/network.h"

namespace oplens::prof {

/// The model that a run computes, as options say, and what the profile may not tell of it.
struct ModelPlan {
  ops::Network network;
  // nullopt: from the profile.
  std::optional<int64_t> sequence;  ///< Tokens of a sequence.
  std::optional<int64_t> batch;     ///< Sequences in a step, of all GPUs of `gpus`.
  std::optional<int64_t> gpus;      ///< GPUs that share them.
  ops::Recompute recompute = ops::Recompute::kNone;
  const ops::Convention* convention = nullptr;  ///< Null: all.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_MODEL_PLAN_H_
