#ifndef OPLENS_PARSE_JOIN_DONOR_VOTES_H_
#define OPLENS_PARSE_JOIN_DONOR_VOTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_keys.h"
#include "parse/join/place_model.h"
#include "parse/model/evidence.h"

namespace oplens::parse {

/// Start of a member of a lane, or of the call that captured it.
int64_t BeginOf(const Lane& lane, size_t i);

/// What all fitting places say about each member of a target.
class DonorVotes {
 public:
  explicit DonorVotes(size_t members) : votes_(members) {}

  /// `partners`: by member of the target, counted from `first` of the source; kUnaligned: none.
  void Add(const Lane& source, size_t first, const std::vector<uint32_t>& partners);

  /// Adds the ops on which all agree, for members from `begin` of the target without one.
  void Take(const Lane& target, size_t begin, Evidence evidence, Confidence confidence,
            uint32_t instance, std::vector<Inferred>* found) const;

 private:
  struct Vote {
    KnownOp told;
    uint32_t donor = 0;
    int64_t donor_begin_ns = 0;
    uint32_t count = 0;
    bool op_differs = false;
    bool layer_differs = false;
  };
  std::vector<Vote> votes_;
};

/// Returns how many partners are not kUnaligned.
size_t CountAligned(const std::vector<uint32_t>& partners);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_DONOR_VOTES_H_
