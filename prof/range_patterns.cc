#include "prof/range_patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/parse_number.h"
#include "base/shown_text.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxProcesses = size_t{1} << 16;

/// Whether f(text) holds for the text of something that encloses a kernel: its ranges, its layers
/// (for a backward kernel, of its forward op), and the ranges of threads that waited for it.
template <typename F>
bool AnyEnclosing(const PricedKernel& row, F f) {
  const auto& ranges = row.record->range;
  const auto& callers = row.record->caller_range;
  return std::any_of(ranges.begin(), ranges.end(), f) ||
         std::any_of(row.layer.begin(), row.layer.end(), f) ||
         std::any_of(callers.begin(), callers.end(), f);
}

}  // namespace

RangeFilter::RangeFilter(const std::string& pattern) : pattern_(pattern, "--range") {}
RangeFilter::~RangeFilter() = default;

bool RangeFilter::Matches(std::string_view text) const { return pattern_.Matches(text); }

bool RangeFilter::Keeps(const PricedKernel& row) {
  if (!row.replay) ++kernels_;
  const bool keeps = IsInStep(row.record->step) ||
                     AnyEnclosing(row, [this](std::string_view text) { return Matches(text); });
  if (keeps) ++kept_;
  return keeps;
}

bool RangeFilter::IsInStep(std::optional<int64_t> step) {
  if (step != last_step_) {
    last_step_ = step;
    last_step_matches_ = step && Matches(fmt::format("{}{}", markers::kStepPrefix, *step));
  }
  return last_step_matches_;
}

std::vector<std::string> RangeFilter::Notes() const {
  if (kernels_ == 0 || kept_ > 0) return {};
  return {fmt::format("--range: no range and no layer of the {} kernels holds '{}'", kernels_,
                      ShownText(pattern_.compiled().pattern()))};
}

StepFinder::StepFinder(const std::string& pattern) : pattern_(pattern, "--step") {}
StepFinder::~StepFinder() = default;

StepFinder::Found StepFinder::Look(std::string_view text, int64_t* step) const {
  re2::StringPiece parts[2];
  const bool has_group = pattern_.compiled().NumberOfCapturingGroups() > 0;
  const re2::StringPiece whole(text.data(), text.size());
  if (!pattern_.compiled().Match(whole, 0, text.size(), RE2::UNANCHORED, parts,
                                 has_group ? 2 : 1)) {
    return Found::kNothing;
  }
  std::string_view digits(parts[1].data(), parts[1].size());
  if (!has_group) {
    digits = text.substr(static_cast<size_t>(parts[0].data() - text.data()));
    const auto* const begin = std::find_if(digits.begin(), digits.end(), IsDigit);
    const auto* const end = std::find_if_not(begin, digits.end(), IsDigit);
    digits = digits.substr(static_cast<size_t>(begin - digits.begin()),
                           static_cast<size_t>(end - begin));
  }
  return ParseNumber(digits, step) ? Found::kNumber : Found::kNoNumber;
}

StepFinder::Found StepFinder::LookAt(const PricedKernel& row, int64_t* step,
                                     std::string_view* without_number) const {
  Found best = Found::kNothing;
  const auto look = [&](std::string_view text) {
    const Found found = Look(text, step);
    if (found == Found::kNoNumber && best == Found::kNothing) *without_number = text;
    best = std::max(best, found);
    return best == Found::kNumber;
  };
  AnyEnclosing(row, look);
  return best;
}

std::optional<int64_t> StepFinder::StepOf(const PricedKernel& row) {
  if (!row.replay) ++kernels_;
  const KernelRecord& record = *row.record;
  const int64_t process_id = record.process_id.value_or(-1);
  int64_t step = 0;
  std::string_view without_number;
  const Found found = LookAt(row, &step, &without_number);
  if (found != Found::kNothing) ++matched_;
  if (found == Found::kNumber) {
    if (last_.size() >= kMaxProcesses) last_.clear();
    last_[process_id] = {step, record.thread_id};
    return step;
  }
  if (found == Found::kNoNumber) {
    // The ranges of a profile need no numbers.
    if (row.work != PricedKernel::kNoWork) return std::nullopt;
    if (unnumbered_++ == 0) example_ = ShownText(without_number);
    return std::nullopt;
  }
  if (record.direction != Direction::kBackward) return std::nullopt;
  const auto last = last_.find(process_id);
  if (last == last_.end() || last->second.thread_id == record.thread_id) return std::nullopt;
  return last->second.step;
}

StepText StepFinder::TextOf(std::string_view text) const {
  int64_t step = 0;
  const bool has_group = pattern_.compiled().NumberOfCapturingGroups() > 0;
  switch (Look(text, &step)) {
    case Found::kNothing:
      break;
    case Found::kNoNumber:
      return {!has_group, std::nullopt, has_group};
    case Found::kNumber:
      return {true, step, has_group};
  }
  return {};
}

std::vector<std::string> StepFinder::Notes() const {
  if (kernels_ == 0) return {};
  if (matched_ == 0) {
    return {fmt::format("--step: no range and no layer of the {} kernels holds '{}'", kernels_,
                        ShownText(pattern_.compiled().pattern()))};
  }
  if (unnumbered_ == 0) return {};
  return {
      fmt::format("--step: {} kernels are in a match without a number (\"{}\"), which cannot "
                  "tell one iteration from another",
                  unnumbered_, example_)};
}

}  // namespace oplens::prof
