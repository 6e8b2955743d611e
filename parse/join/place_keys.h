#ifndef OPLENS_PARSE_JOIN_PLACE_KEYS_H_
#define OPLENS_PARSE_JOIN_PLACE_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// What of a kernel tells its place in a step.
enum class KeyParts {
  kLaunch,  ///< Name, grid, block, registers and shared memory.
  kExtent,  ///< Name, grid and block: what calls of a capture tell too.
  kName,    ///< ROCm's replays of graphs have no more.
};

/// Keys of kernels: equal where kernels are alike, in whichever file. Hashes of 64 bits: that two
/// of a million different kernels have one is less likely than 1 in 10^7.
class PlaceKeys {
 public:
  /// `trace` must outlive this object.
  explicit PlaceKeys(const Trace& trace) : trace_(trace), names_(trace.strings.size(), 0) {}

  uint64_t Of(const Kernel& kernel, KeyParts parts);

  /// A hash of a text of the trace.
  uint64_t OfText(StringId text);

 private:
  const Trace& trace_;
  std::vector<uint64_t> names_;  // By StringId; 0: not asked for yet.
};

/// What is known of the op of a kernel, as hashes that are equal where it is the same, in whichever
/// file; 0: nothing.
struct ToldOp {
  uint64_t op = 0;     ///< Annotated calls, op, phase, and the calls of the forward op of its node.
  uint64_t own = 0;    ///< The same without what is known of a forward op.
  uint64_t layer = 0;  ///< Layers; those of the forward op where there is no other.
};

/// `keys` is that of the trace of `joined`.
ToldOp ToldOpOf(const Joined& joined, size_t kernel, PlaceKeys* keys);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_PLACE_KEYS_H_
