#ifndef OPLENS_PROF_PATH_HOST_PIECES_H_
#define OPLENS_PROF_PATH_HOST_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// What host threads spend their time on: at each moment the innermost API call of
/// HostMoments::calls, otherwise the data loader, otherwise the innermost call of an operator or
/// node, otherwise the innermost other range. Keeps the open ranges of each thread as time
/// advances.
///
/// O(ranges and calls) per thread, over all intervals.
class HostPieces {
 public:
  /// `calls`: by thread, then start. All must outlive this object.
  HostPieces(const parse::Joined& joined, std::span<const LaunchIndex> calls);

  struct Piece {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    PathSubject subject;
    PathCause cause = PathCause::kPython;
  };

  /// Calls f(piece) for each piece of an interval, in order; equal adjacent pieces are merged.
  /// Precondition: the intervals of a thread come in order of start.
  template <typename F>
  void Split(ThreadIndex thread, int64_t start_ns, int64_t end_ns, F f) {
    if (start_ns >= end_ns) return;
    Begin(thread, start_ns);
    std::optional<Piece> last;
    for (int64_t time_ns = start_ns; time_ns < end_ns;) {
      Piece piece = Next(time_ns, end_ns);
      time_ns = piece.end_ns;
      if (last && last->subject == piece.subject && last->cause == piece.cause) {
        last->end_ns = piece.end_ns;
        continue;
      }
      if (last) f(*last);
      last = piece;
    }
    f(*last);
  }

 private:
  struct Open {
    int64_t end_ns = 0;
    uint32_t index = 0;
  };
  struct Lane {
    std::vector<Open> ops;
    std::vector<Open> others;
    std::vector<Open> calls;
    Open loader{INT64_MIN, 0};
    size_t range = 0;  // The next one to open; likewise of calls.
    size_t call = 0;
    size_t call_end = 0;
    bool begun = false;
  };
  enum class Role : uint8_t { kUnasked, kOp, kOther, kLoader, kNone };

  void Begin(ThreadIndex thread, int64_t start_ns);
  void MoveTo(int64_t time_ns);
  Piece Next(int64_t time_ns, int64_t end_ns);
  Role RoleOf(uint32_t range);

  const parse::Joined& joined_;
  const Trace& trace_;
  std::span<const LaunchIndex> calls_;
  std::vector<Role> roles_;  // By text, of ranges that are no calls.
  std::vector<Lane> lanes_;  // By thread.
  Lane* lane_ = nullptr;     // The current one,
  size_t ranges_end_ = 0;    // and the end of its thread's ranges.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_HOST_PIECES_H_
