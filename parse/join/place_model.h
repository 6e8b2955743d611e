#ifndef OPLENS_PARSE_JOIN_PLACE_MODEL_H_
#define OPLENS_PARSE_JOIN_PLACE_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parse/join/place_keys.h"

namespace oplens::parse {

class Joined;

/// The kernels of one stream, or of one capture, in order.
class Lane {
 public:
  /// All must outlive this object. `kernels`: by WorkIndex, in output order.
  Lane(const Joined& joined, PlaceKeys* keys, std::vector<uint32_t> kernels)
      : joined_(joined), place_keys_(*keys), kernels_(std::move(kernels)) {}

  const Joined& joined() const { return joined_; }
  size_t size() const { return kernels_.size(); }
  uint32_t KernelOf(size_t i) const { return kernels_[i]; }
  const Kernel& At(size_t i) const;
  int64_t StartOf(size_t i) const;
  std::span<const uint64_t> Keys(KeyParts parts) const;
  /// The recorded op of the i-th kernel; empty if HasNoRecordedOp.
  const KnownOp& KnownOpAt(size_t i) const;

 private:
  const Joined& joined_;
  PlaceKeys& place_keys_;
  std::vector<uint32_t> kernels_;
  mutable std::array<std::vector<uint64_t>, 3> keys_;  // By KeyParts; empty: not made yet.
  mutable std::vector<KnownOp> told_;
};

struct Segment {
  const Lane* lane = nullptr;
  size_t begin = 0;
  size_t end = 0;
  std::optional<int64_t> step = std::nullopt;

  size_t size() const { return end - begin; }
  std::span<const uint64_t> Keys(KeyParts parts) const {
    return lane->Keys(parts).subspan(begin, size());
  }
};

/// One step as a sequence of places, each with the facts on which its known repetitions agree.
class PlaceModel {
 public:
  struct Place {
    KnownOp told;  ///< 0: unknown.
    uint32_t donor = 0;
    int64_t donor_step_ns = 0;  ///< When the donor's step began.
    uint32_t votes = 0;
    bool op_differs = false;
    bool layer_differs = false;

    bool says_op() const { return told.op != 0 && !op_differs; }
    bool says_layer() const { return says_op() && told.layer != 0 && !layer_differs; }
  };

  PlaceModel(const Segment& shape, KeyParts parts)
      : shape_(shape), parts_(parts), places_(shape.size()) {}

  KeyParts parts() const { return parts_; }
  const Segment& shape() const { return shape_; }
  std::span<const uint64_t> keys() const { return shape_.Keys(parts_); }
  const std::vector<Place>& places() const { return places_; }
  /// Whether enough repetitions agree on a place. One of several is not enough: the others have
  /// another kernel there, as if sizes depend on the data.
  bool IsBorneOut(const Place& place) const {
    constexpr size_t kSeveral = 3;
    return place.votes > 1 || repetitions_ < kSeveral;
  }

  /// Adds the facts of a repetition. Returns false, adding nothing, if less than half matches.
  bool Add(const Segment& repetition);

 private:
  Segment shape_;
  KeyParts parts_;
  std::vector<Place> places_;
  size_t repetitions_ = 0;
};

/// Models of steps: one per group of similar steps, the largest group first, at most kMostModels.
inline constexpr size_t kMostModels = 4;
std::vector<PlaceModel> ModelsOf(std::span<const Segment> steps, KeyParts parts);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_PLACE_MODEL_H_
