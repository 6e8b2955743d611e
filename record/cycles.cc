#include "record/cycles.h"

#include <algorithm>
#include <limits>

#include "base/parse_number.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::record {
namespace {

/// The number after `prefix`, which goes into a file name; nullopt for other texts.
std::optional<int64_t> NumberBehind(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  constexpr int64_t kMost = 1'000'000'000;
  int64_t number = 0;
  const bool whole = ParseNumber(text.substr(prefix.size()), &number);
  if (!whole || number < 1 || number > kMost) return std::nullopt;
  return number;
}

constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

void JoinLast(std::vector<Cycle>* cycles) {
  if (cycles->size() <= kMostCycleFiles) return;
  Cycle& joined = (*cycles)[kMostCycleFiles - 1];
  joined.last_number = cycles->back().number;
  joined.end_ns = cycles->back().end_ns;
  joined.complete = std::all_of(cycles->begin() + kMostCycleFiles - 1, cycles->end(),
                                [](const Cycle& cycle) { return cycle.complete; });
  cycles->resize(kMostCycleFiles);
}

}  // namespace

std::optional<CycleMark> CycleMark::Read(int64_t time_ns, std::string_view text) {
  if (text == markers::kScheduleMark) return CycleMark{time_ns, 0, Kind::kSchedule};
  if (text == markers::kDroppedMark) return CycleMark{time_ns, 0, Kind::kDropped};
  if (const auto number = NumberBehind(markers::kCycleStartMark, text)) {
    return CycleMark{time_ns, *number, Kind::kStart};
  }
  if (const auto number = NumberBehind(markers::kCycleStopMark, text)) {
    return CycleMark{time_ns, *number, Kind::kComplete};
  }
  return std::nullopt;
}

std::vector<Cycle> CyclesOf(std::vector<CycleMark> marks) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const CycleMark& a, const CycleMark& b) { return a.time_ns < b.time_ns; });
  std::vector<Cycle> cycles;
  bool open = false;
  const auto close = [&](int64_t time_ns, bool complete) {
    if (!open) return;
    cycles.back().end_ns = time_ns;
    cycles.back().complete = complete;
    open = false;
  };
  for (const CycleMark& mark : marks) {
    switch (mark.kind) {
      case CycleMark::Kind::kStart: {
        close(mark.time_ns, false);
        // A program that called exec starts counting anew.
        const int64_t last = cycles.empty() ? 0 : cycles.back().number;
        const int64_t number = std::max(mark.number, last + 1);
        cycles.push_back({number, number, mark.time_ns, 0, false});
        open = true;
        break;
      }
      case CycleMark::Kind::kComplete:
        close(mark.time_ns < kForEver ? mark.time_ns + 1 : kForEver, true);  // With its mark.
        break;
      case CycleMark::Kind::kDropped:
        if (open) cycles.pop_back();
        open = false;
        break;
      case CycleMark::Kind::kSchedule:
        close(mark.time_ns, false);
        break;
    }
  }
  close(kForEver, false);
  JoinLast(&cycles);
  return cycles;
}

}  // namespace oplens::record
