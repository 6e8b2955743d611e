#include "prof/run/memory_leaks.h"

#include <algorithm>

namespace oplens::prof {

MemoryLeaks::MemoryLeaks(const MemoryLife& memory, const Steps& steps)
    : memory_(memory), steps_(steps) {
  for (const MemoryLife::Pool& pool : memory.pools()) {
    last_ns_ = std::max(last_ns_, memory.EventAt(pool.end - 1).time_ns);
  }
}

std::optional<bool> MemoryLeaks::IsLeak(const MemoryLife::Piece& piece) const {
  if (steps_.source() == StepSource::kNone || piece.state == MemoryState::kUnknown) {
    return std::nullopt;
  }
  if (piece.state != MemoryState::kAlive) return false;
  const size_t step = steps_.OfHost(memory_.EventAt(piece.begin).time_ns);
  return step != Steps::kNone && steps_.all()[step].host.end_ns < last_ns_;
}

}  // namespace oplens::prof
