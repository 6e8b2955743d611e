#ifndef OPLENS_PARSE_MODEL_PHASE_H_
#define OPLENS_PARSE_MODEL_PHASE_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <string_view>

namespace oplens {

enum class Direction : uint8_t {
  kUnknown,   ///< '' in the record.
  kForward,   ///< "fprop"
  kBackward,  ///< "bprop"
};

/// "fprop", "bprop" or "".
std::string_view DirectionWord(Direction direction);

/// What a training step was doing when it launched a kernel; finer than Direction.
enum class Phase : uint8_t {
  kUnknown,
  kForward,
  kBackward,    ///< The node of a forward op.
  kRecompute,   ///< A forward op rerun for the backward pass (checkpointing): bprop.
  kGradient,    ///< Sums, hooks and reductions of gradients: bprop.
  kAccumulate,  ///< Like kGradient, but adds to a parameter's gradient (AccumulateGrad).
  kOptimizer,
};

/// "forward", "backward", "recompute", "gradient", "accumulate", "optimizer" or "".
std::string_view PhaseWord(Phase phase);

constexpr bool IsBackwardPhase(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kRecompute || phase == Phase::kGradient ||
         phase == Phase::kAccumulate;
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_PHASE_H_
