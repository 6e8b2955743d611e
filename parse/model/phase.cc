#include "parse/model/phase.h"

namespace oplens {

std::string_view DirectionWord(Direction direction) {
  switch (direction) {
    case Direction::kForward:
      return "fprop";
    case Direction::kBackward:
      return "bprop";
    case Direction::kUnknown:
      break;
  }
  return "";
}

std::string_view PhaseWord(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kRecompute:
      return "recompute";
    case Phase::kGradient:
      return "gradient";
    case Phase::kAccumulate:
      return "accumulate";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kUnknown:
      break;
  }
  return "";
}

}  // namespace oplens
