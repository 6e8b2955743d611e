#ifndef OPLENS_PARSE_JOIN_PLACE_KEYS_H_
#define OPLENS_PARSE_JOIN_PLACE_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// The facts of a kernel that identify its place in a step.
enum class KeyParts {
  kLaunch,  ///< Name, grid, block, registers and shared memory.
  kExtent,  ///< Name, grid and block, which calls of a capture have too.
  kName,    ///< All that ROCm's replays of graphs have.
};

/// Keys of kernels, equal for equal kernels of any files. 64-bit hashes: the probability of a
/// collision among a million different kernels is less than 1 in 10^7.
class PlaceKeys {
 public:
  /// `trace` must outlive this object.
  explicit PlaceKeys(const Trace& trace) : trace_(trace), names_(trace.strings.size(), 0) {}

  uint64_t Of(const Kernel& kernel, KeyParts parts);

  uint64_t OfText(StringId text);

 private:
  const Trace& trace_;
  std::vector<uint64_t> names_;  // By StringId; 0: not made yet.
};

/// The known op of a kernel, as hashes that are equal for equal ops of any files; 0: unknown.
struct KnownOp {
  uint64_t op = 0;     ///< Annotated calls, op, phase, and the calls of the forward op of its node.
  uint64_t own = 0;    ///< The same without the forward op.
  uint64_t layer = 0;  ///< Layers; if there are none, those of the forward op.
};

/// `keys` must be of the trace of `joined`.
KnownOp KnownOpOf(const Joined& joined, size_t kernel, PlaceKeys* keys);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_PLACE_KEYS_H_
