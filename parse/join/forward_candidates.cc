#include "parse/join/forward_candidates.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/team.h"
#include "parse/model/node_name.h"

namespace oplens::parse {
namespace {

/// This many candidates are checked before all of a number are classified by name.
constexpr uint32_t kForwardCandidatesNear = 16;
/// Upper bound on kept results of that, of all threads.
constexpr size_t kMostFits = size_t{8} << 20;
/// Ranges that are worth a thread.
constexpr size_t kRangesOfPart = size_t{16} << 10;

/// Returns the number of a range that may be a forward op, else nullopt.
std::optional<int64_t> CandidateNumber(const Trace& trace, size_t index, const LeakedRanges& leaks,
                                       const StepContexts& contexts, const RangeRoles& roles) {
  const Range& range = trace.ranges[index];
  const StepContext context = contexts.ContextOf(index);
  const bool op = context == StepContext::kNone || context == StepContext::kRecompute;
  if (!op || range.open() || leaks.Has(index) || contexts.Repeats(index)) return std::nullopt;
  const std::optional<int64_t> sequence = roles.SequenceOf(range);
  // On an engine thread 0 is a filler.
  const int64_t least = contexts.IsEngineThread(trace.ThreadOf(range)) ? 1 : 0;
  return sequence && *sequence >= least ? sequence : std::nullopt;
}

}  // namespace

ForwardCandidates::ForwardCandidates(const Trace& trace, const ThreadRanges& threads,
                                     const LeakedRanges& leaks, const StepContexts& contexts,
                                     const RangeRoles& roles, std::span<const BackwardNode> nodes)
    : trace_(trace), roles_(roles) {
  FindSlots(nodes);
  const std::vector<Found> found = FindAll(threads, leaks, contexts);
  const size_t slots = run_bounds_.size() - 1;
  std::vector<uint32_t> next(slots + 1, 0);
  for (const Found& part : found) {
    for (const auto& [slot, range] : part) ++next[slot + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<uint32_t> bounds = next;
  ranges_.resize(bounds.back());
  for (const Found& part : found) {
    for (const auto& [slot, range] : part) ranges_[next[slot]++] = range;
  }
  for (size_t slot = 0; slot < slots; ++slot) {
    run_bounds_[slot] = static_cast<uint32_t>(runs_.size());
    for (uint32_t place = bounds[slot]; place < bounds[slot + 1]; ++place) {
      const ThreadIndex thread = trace.ThreadOf(trace.ranges[ranges_[place]]);
      const bool first = place == bounds[slot] || runs_.back().thread != thread;
      if (first) runs_.push_back({place, place, thread});
      runs_.back().end = place + 1;
    }
  }
  run_bounds_.back() = static_cast<uint32_t>(runs_.size());
}

void ForwardCandidates::FindSlots(std::span<const BackwardNode> nodes) {
  node_slots_.reserve(nodes.size());
  uint32_t slots = 0;
  for (const BackwardNode& node : nodes) {
    const uint32_t slot = slots_[node.process_id].FindOrInsert(node.sequence, slots);
    if (slot == slots) ++slots;
    node_slots_.push_back(slot);
  }
  run_bounds_.assign(size_t{slots} + 1, 0);
}

/// In order of thread and start.
std::vector<ForwardCandidates::Found> ForwardCandidates::FindAll(
    const ThreadRanges& threads, const LeakedRanges& leaks, const StepContexts& contexts) const {
  std::vector<Found> found;
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    const auto numbers = slots_.find(trace_.threads[thread].process_id);
    if (numbers == slots_.end()) continue;
    const size_t begin = threads.BeginOf(thread);
    const size_t before = found.size();
    const size_t parts = CountParts(threads.EndOf(thread) - begin, kRangesOfPart);
    found.resize(before + parts);
    InParts(threads.EndOf(thread) - begin, parts, [&](size_t part, size_t first, size_t last) {
      Found& own = found[before + part];
      for (size_t i = begin + first; i < begin + last; ++i) {
        const auto number = CandidateNumber(trace_, i, leaks, contexts, roles_);
        if (!number) continue;
        const uint32_t slot = numbers->second.Find(*number);
        if (slot != IdMap::kNone) own.emplace_back(slot, static_cast<uint32_t>(i));
      }
    });
  }
  return found;
}

ForwardCandidates::Run ForwardCandidates::Before(const Run& run, int64_t time_ns,
                                                 bool through) const {
  const auto first = ranges_.begin() + run.begin;
  const auto place = std::partition_point(first, ranges_.begin() + run.end, [&](uint32_t range) {
    const int64_t start_ns = trace_.ranges[range].start_ns;
    return start_ns < time_ns || (through && start_ns == time_ns);
  });
  return {run.begin, run.begin + static_cast<uint32_t>(place - first), run.thread};
}

uint32_t ForwardCandidates::EndOfRun(uint32_t begin) const {
  const auto run = std::lower_bound(runs_.begin(), runs_.end(), begin,
                                    [](const Run& a, uint32_t place) { return a.begin < place; });
  return run->end;
}

FittingCandidates::FittingCandidates(const ForwardCandidates& all, size_t at_once)
    : all_(all), most_fits_(kMostFits / std::max<size_t>(at_once, 1)) {}

const std::string& FittingCandidates::BareNameOf(std::string_view name) {
  const auto [bare, is_new] = bare_names_.try_emplace(WithoutSequence(name));
  if (is_new) bare->second = BareName(name);
  return bare->second;
}

const std::string& FittingCandidates::BareNameAt(uint32_t place) {
  return BareNameOf(all_.roles_.NameOf(all_.trace_.ranges[all_.ranges_[place]]));
}

uint32_t FittingCandidates::LastThatFits(const ForwardCandidates::Run& run,
                                         std::string_view node_name) {
  const std::string& bare_node = BareNameOf(node_name);
  const uint32_t near = std::min(run.end - run.begin, kForwardCandidatesNear);
  for (uint32_t place = run.end; place-- > run.end - near;) {
    if (NamesFit(bare_node, BareNameAt(place))) return all_.ranges_[place];
  }
  if (near == run.end - run.begin) return kNoRange;
  const uint32_t fit = FitsOf(run.begin, bare_node)[run.end - 1 - run.begin];
  return fit == 0 ? kNoRange : all_.ranges_[fit - 1];
}

const std::vector<uint32_t>& FittingCandidates::FitsOf(uint32_t begin,
                                                       const std::string& bare_node) {
  const uint32_t size = all_.EndOfRun(begin) - begin;
  const auto known = fits_.find({begin, bare_node});
  if (known != fits_.end()) return known->second;
  // Bounds the memory for a file with as many node names as nodes.
  fits_size_ += size;
  if (fits_size_ > most_fits_) {
    fits_.clear();
    fits_size_ = size;
  }
  std::vector<uint32_t>& fits = fits_[{begin, bare_node}];
  fits.reserve(size);
  uint32_t last = 0;
  for (uint32_t place = begin; place < begin + size; ++place) {
    if (NamesFit(bare_node, BareNameAt(place))) last = place + 1;
    fits.push_back(last);
  }
  return fits;
}

uint32_t FittingCandidates::OutermostEnclosingLast(const ForwardCandidates::Run& run) {
  const auto range_at = [&](uint32_t place) -> const Range& {
    return all_.trace_.ranges[all_.ranges_[place]];
  };
  const auto [ends, is_new] = latest_ends_.try_emplace(run.begin);
  if (is_new) {
    int64_t latest_ns = std::numeric_limits<int64_t>::min();
    const uint32_t end = all_.EndOfRun(run.begin);
    for (uint32_t place = run.begin; place < end; ++place) {
      latest_ns = std::max(latest_ns, range_at(place).end_ns);
      ends->second.push_back(latest_ns);
    }
  }
  // The first one that ends no earlier than the last one; it began no later.
  const auto first =
      std::lower_bound(ends->second.begin(), ends->second.end(), range_at(run.end - 1).end_ns);
  return all_.ranges_[run.begin + static_cast<uint32_t>(first - ends->second.begin())];
}

}  // namespace oplens::parse
