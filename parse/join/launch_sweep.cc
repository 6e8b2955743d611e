#include "parse/join/launch_sweep.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/team.h"
#include "base/threads.h"
#include "parse/join/open_at_cut.h"
#include "parse/join/sequence_texts.h"

namespace oplens::parse {

int64_t ComparedEnd(const LaunchCall& call, int64_t clock_resolution_ns) {
  if (clock_resolution_ns <= 1) return call.end_ns;
  const int64_t slack = 2 * clock_resolution_ns;
  if (call.end_ns - call.start_ns > slack) return call.end_ns - slack;
  return call.start_ns < kNeverClosed ? call.start_ns + 1 : call.start_ns;
}

namespace {

/// Launches or forward ops of a piece.
constexpr size_t kStopsOfPiece = 1024;

/// What lists the ranges around stops of threads.
struct Sweeper {
  Sweeper(const RangeKnowledge& known, const OpCalls& calls)
      : texts(known.trace), reader(known, calls, &texts) {}

  SequenceTexts texts;
  SurroundingsReader reader;
};

}  // namespace

/// Consecutive stops of one thread, and what a sweep over them lists.
struct LaunchSweep::Piece {
  /// Launches with the same origin, from one work of the piece on.
  struct Launches {
    uint32_t first = 0;  ///< In `work`.
    uint32_t around = 0;
    LaunchIndex origin = kNoLaunch;
  };

  ThreadIndex thread = 0;
  std::span<const WorkIndex> work;    ///< In the order of launches, or
  std::span<const uint32_t> numbers;  ///< of forward ops, by range.
  // Where it begins, unless the sweeper stands there already.
  bool begins = false;
  std::vector<uint32_t> open;
  size_t next_range = 0;
  std::unique_ptr<Sweeper> own;
  Sweeper* sweeper = nullptr;

  SurroundingLists lists;
  std::vector<uint32_t> outermost;  ///< By lists.all: SurroundingsReader::OutermostContext().
  /// Those with other surroundings than the ones before, and all of a backward phase.
  std::vector<Launches> launches;
};

/// Cuts the sweeps of all threads over their launches, or one over forward ops, into pieces.
class LaunchSweep::PieceCutter {
 public:
  PieceCutter(const RangeKnowledge& known, const GpuWork& work) : known_(known), work_(&work) {
    if (known.threads.thread_count() > 0) left_ = work.Of(0);
  }
  PieceCutter(const RangeKnowledge& known, std::span<const uint32_t> numbers)
      : known_(known), left_(numbers) {}

  /// Pieces will have sweepers of their own, which know nothing of the piece before.
  void BeginInside(OpenAtCut* open) {
    open_ = open;
    open_->Restart();
  }

  /// False: none is left.
  bool Next(Piece* piece) {
    if (!(work_ != nullptr ? NextLaunches(piece) : NextForwards(piece))) return false;
    piece->begins = open_ != nullptr || piece->thread != thread_;
    if (piece->begins) Begin(piece);
    thread_ = piece->thread;
    return true;
  }

 private:
  bool NextLaunches(Piece* piece) {
    while (left_.empty()) {
      if (++of_thread_ >= known_.threads.thread_count()) return false;
      left_ = work_->Of(of_thread_);
    }
    size_t count = std::min(left_.size(), StopsOfPiece());
    while (count < left_.size() &&
           work_->OriginOf(left_[count]) == work_->OriginOf(left_[count - 1])) {
      ++count;
    }
    piece->thread = of_thread_;
    piece->numbers = {};
    piece->work = left_.first(count);
    left_ = left_.subspan(count);
    return true;
  }

  bool NextForwards(Piece* piece) {
    if (left_.empty()) return false;
    const auto thread_of = [&](uint32_t number) {
      return known_.trace.ThreadOf(known_.trace.ranges[known_.links.ForwardOf(number)]);
    };
    piece->thread = thread_of(left_.front());
    size_t count = 1;
    while (count < std::min(left_.size(), StopsOfPiece()) &&
           thread_of(left_[count]) == piece->thread) {
      ++count;
    }
    piece->work = {};
    piece->numbers = left_.first(count);
    left_ = left_.subspan(count);
    return true;
  }

  /// Each piece begins with the open ranges: where these are many, pieces are as much longer.
  size_t StopsOfPiece() const {
    return open_ != nullptr ? std::max(kStopsOfPiece, open_->open().size()) : kStopsOfPiece;
  }

  void Begin(Piece* piece) {
    piece->open.clear();
    piece->next_range = known_.threads.BeginOf(piece->thread);
    if (open_ == nullptr) return;
    const std::vector<Range>& ranges = known_.trace.ranges;
    int64_t start_ns = 0;
    if (piece->work.empty()) {
      const uint32_t forward = known_.links.ForwardOf(piece->numbers.front());
      start_ns = ranges[forward].start_ns;
      piece->next_range = forward;
    } else {
      start_ns = known_.trace.launches[work_->OriginOf(piece->work.front())].start_ns;
      piece->next_range = open_->FirstAfter(piece->thread, start_ns);
    }
    open_->MoveTo(piece->thread, piece->next_range, start_ns);
    piece->open = open_->open();
  }

  const RangeKnowledge& known_;
  const GpuWork* work_ = nullptr;  // Null: forward ops.
  std::span<const uint32_t> left_;
  ThreadIndex of_thread_ = 0;       // Whose work is left.
  ThreadIndex thread_ = kNoThread;  // Of the last piece.
  OpenAtCut* open_ = nullptr;       // Null: pieces follow each other.
};

LaunchSweep::LaunchSweep(const RangeKnowledge& known, const GpuWork& work, OpCalls* calls)
    : known_(known),
      work_(work),
      calls_(*calls),
      callers_(known),
      around_work_(work.count(), kNone) {
  // Usually enough; unused capacity takes no memory.
  lists_.all.reserve(work.count());
  constexpr size_t kUsualDepth = 8;
  lists_.ranges.reserve(work.count() * kUsualDepth);
  PieceCutter cutter(known, work);
  Sweep(work.count(), &cutter, {});
  FindForwardPlaces();
  if (open_) open_->Restart();
  callers_.Answer(*calls, open_ ? &*open_ : nullptr);
  open_.reset();
}

void LaunchSweep::Sweep(size_t count, PieceCutter* cutter, const std::vector<bool>& silent) {
  const size_t threads =
      count < 2 * kStopsOfPiece ? 1 : std::max<size_t>(static_cast<size_t>(ThreadLimit()), 1);
  // Two for each thread, so that one that is slow or late takes fewer, and several for each time
  // that threads are woken. While they are made, those before them are taken and those after them
  // are cut.
  constexpr size_t kLeastAtOnce = 8;
  const size_t at_once = threads < 2 ? 1 : std::max(2 * threads, kLeastAtOnce);
  std::vector<Piece> pieces(at_once);
  std::vector<Piece> next(at_once);
  std::vector<Piece> after(at_once);
  Sweeper shared(known_, calls_);
  if (threads > 1) {
    if (!open_) open_.emplace(known_.trace, known_.threads, known_.leaks);
    cutter->BeginInside(&*open_);
  }
  for (std::vector<Piece>* const some : {&pieces, &next, &after}) {
    for (Piece& piece : *some) {
      if (threads > 1) piece.own = std::make_unique<Sweeper>(known_, calls_);
      piece.sweeper = threads > 1 ? piece.own.get() : &shared;
    }
  }
  const auto cut = [&](std::vector<Piece>* some) {
    size_t found = 0;
    while (found < some->size() && cutter->Next(&(*some)[found])) ++found;
    return found;
  };
  Team team(threads - 1);
  size_t made = cut(&pieces);
  team.Begin(made, [&](size_t i) { Make(&pieces[i]); });
  size_t begun = cut(&next);
  team.Join();
  while (made > 0) {
    team.Begin(begun, [&](size_t i) { Make(&next[i]); });
    for (size_t i = 0; i < made; ++i) {
      if (pieces[i].work.empty()) {
        TakeForwards(pieces[i], silent);
      } else {
        TakeLaunches(pieces[i]);
      }
    }
    const size_t cut_now = cut(&after);
    team.Join();
    // What makes pieces reads the texts of the trace.
    for (size_t i = 0; i < made; ++i) calls_.Take(&pieces[i].sweeper->texts);
    std::swap(pieces, next);
    std::swap(next, after);
    made = std::exchange(begun, cut_now);
  }
}

void LaunchSweep::Make(Piece* piece) const {
  piece->lists.all.clear();
  piece->lists.ranges.clear();
  piece->outermost.clear();
  piece->launches.clear();
  SurroundingsReader& reader = piece->sweeper->reader;
  if (piece->begins) reader.BeginAt(piece->thread, piece->open, piece->next_range);
  if (!piece->work.empty()) return SweepLaunches(piece);
  for (const uint32_t number : piece->numbers) {
    reader.MoveToRange(known_.links.ForwardOf(number));
    piece->lists.all.push_back(reader.Collect(&piece->lists));
  }
}

void LaunchSweep::SweepLaunches(Piece* piece) const {
  SurroundingsReader& reader = piece->sweeper->reader;
  const int64_t leaked_since_ns = known_.leaks.SinceOn(piece->thread);
  LaunchIndex launch = kNoLaunch;
  uint64_t version = 0;
  bool leaked = false;
  for (size_t i = 0; i < piece->work.size(); ++i) {
    const LaunchIndex origin = work_.OriginOf(piece->work[i]);
    if (origin == launch) continue;
    launch = origin;
    const LaunchCall& call = known_.trace.launches[origin];
    reader.MoveTo(call.start_ns, ComparedEnd(call, known_.trace.clock_resolution_ns));
    const bool leaked_now = leaked_since_ns <= call.start_ns;
    std::vector<Surroundings>& all = piece->lists.all;
    const bool differ = all.empty() || version != reader.version() || leaked != leaked_now;
    if (differ) {
      all.push_back(reader.Collect(&piece->lists));
      piece->outermost.push_back(reader.OutermostContext());
      version = reader.version();
      leaked = leaked_now;
    }
    if (differ || IsBackwardPhase(all.back().phase)) {
      piece->launches.push_back(
          {static_cast<uint32_t>(i), static_cast<uint32_t>(all.size() - 1), origin});
    }
  }
}

uint32_t LaunchSweep::TakeRanges(const Piece& piece) {
  const auto first = static_cast<uint32_t>(lists_.ranges.size());
  lists_.ranges.insert(lists_.ranges.end(), piece.lists.ranges.begin(), piece.lists.ranges.end());
  return first;
}

void LaunchSweep::Append(const Surroundings& around, uint32_t first_range) {
  lists_.all.emplace_back(around).first += first_range;
}

void LaunchSweep::TakeLaunches(const Piece& piece) {
  const uint32_t first_range = TakeRanges(piece);
  uint32_t before = kNone;
  for (size_t k = 0; k < piece.launches.size(); ++k) {
    const Piece::Launches& some = piece.launches[k];
    const Surroundings& own = piece.lists.all[some.around];
    const uint32_t callers =
        callers_.Ask(known_.trace.launches[some.origin], own.phase, piece.outermost[some.around]);
    if (some.around != before) {
      Append(own, first_range);
      lists_.all.back().callers = callers;
    } else if (callers != lists_.all.back().callers) {
      // The same ranges, but another thread waits.
      lists_.all.push_back(Surroundings(lists_.all.back()));
      lists_.all.back().callers = callers;
    }
    before = some.around;
    const auto around = static_cast<uint32_t>(lists_.all.size() - 1);
    const size_t end =
        k + 1 < piece.launches.size() ? piece.launches[k + 1].first : piece.work.size();
    for (size_t i = some.first; i < end; ++i) around_work_[piece.work[i]] = around;
  }
}

void LaunchSweep::TakeForwards(const Piece& piece, const std::vector<bool>& silent) {
  const uint32_t first_range = TakeRanges(piece);
  for (size_t i = 0; i < piece.numbers.size(); ++i) {
    places_.push_back(
        {piece.numbers[i], static_cast<uint32_t>(lists_.all.size()), silent[piece.numbers[i]]});
    Append(piece.lists.all[i], first_range);
  }
}

void LaunchSweep::FindForwardPlaces() {
  const uint32_t count = known_.links.count();
  if (count == 0) return;
  std::vector<bool> has_kernel(size_t{count} + 1, false);
  std::vector<bool> wanted(size_t{count} + 1, false);  // Its surroundings.
  std::vector<bool> silent(size_t{count} + 1, false);
  for (const Surroundings& around : lists_.all) {
    if (around.phase == Phase::kBackward) silent[around.node().node] = true;
    wanted[around.served()] = true;
    if (known_.every_forward) wanted[around.node().node] = true;
  }
  for (WorkIndex work = 0; work < known_.trace.kernels.size(); ++work) {
    if (around_work_[work] == kNone) continue;
    const Surroundings& around = lists_.all[around_work_[work]];
    // The record of a kernel has the surroundings of these forward ops. But a kernel in a node has
    // those of the node: for an op inside it that made a node itself (gradients of gradients), they
    // are kept for the kernels of the latter.
    if (around.phase == Phase::kBackward) {
      if (!lists_.Of(around, Around::kForwards).empty()) wanted[around.node().node] = true;
      continue;
    }
    for (const uint32_t range : lists_.Of(around, Around::kForwards)) {
      has_kernel[known_.links.NumberOf(range)] = true;
    }
  }
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= count; ++number) {
    silent[number] = silent[number] && !has_kernel[number];
    if (silent[number] || wanted[number]) numbers.push_back(number);
  }
  // Ranges are ordered by thread and start.
  std::sort(numbers.begin(), numbers.end(), [&](uint32_t a, uint32_t b) {
    return known_.links.ForwardOf(a) < known_.links.ForwardOf(b);
  });
  PieceCutter cutter(known_, numbers);
  Sweep(numbers.size(), &cutter, silent);
  std::sort(places_.begin(), places_.end(),
            [](const ForwardPlace& a, const ForwardPlace& b) { return a.number < b.number; });
}

LaunchSweep::ForwardPlace LaunchSweep::PlaceOf(uint32_t forward) const {
  const auto place =
      std::lower_bound(places_.begin(), places_.end(), forward,
                       [](const ForwardPlace& a, uint32_t number) { return a.number < number; });
  return place != places_.end() && place->number == forward ? *place : ForwardPlace();
}

}  // namespace oplens::parse
