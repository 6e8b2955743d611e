#include "parse/model/kernel_record.h"

#include <utility>

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

std::string_view EvidenceWord(Evidence evidence) {
  switch (evidence) {
    case Evidence::kRange:
      return "range";
    case Evidence::kCapture:
      return "capture";
    case Evidence::kRepetition:
      return "repetition";
    case Evidence::kReference:
      return "reference";
    case Evidence::kNone:
      break;
  }
  return "";
}

std::string_view ConfidenceWord(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      return "high";
    case Confidence::kUnknown:
      break;
  }
  return "";
}

void KernelRecord::Clear() {
  // Lists keep their memory: a record is refilled a million times.
  KernelRecord fresh;
  for (auto member :
       {&KernelRecord::layer, &KernelRecord::trace, &KernelRecord::repr_markers,
        &KernelRecord::markers, &KernelRecord::seq_markers, &KernelRecord::mod, &KernelRecord::op,
        &KernelRecord::range, &KernelRecord::caller_range, &KernelRecord::forward_layer,
        &KernelRecord::forward_trace, &KernelRecord::forward_markers, &KernelRecord::forward_mod,
        &KernelRecord::forward_op}) {
    (this->*member).clear();
    (fresh.*member).swap(this->*member);
  }
  for (auto member :
       {&KernelRecord::seq_ids, &KernelRecord::alt_seq_ids, &KernelRecord::marker_starts_ns,
        &KernelRecord::nodes, &KernelRecord::node_ops}) {
    (this->*member).clear();
    (fresh.*member).swap(this->*member);
  }
  *this = std::move(fresh);
}

}  // namespace oplens
