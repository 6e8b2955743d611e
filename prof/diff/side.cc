#include "prof/diff/side.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/saturating.h"
#include "prof/verdicts/steady_steps.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kMeanStep = "mean";  // Of overview.

struct PlaceHash {
  size_t operator()(const std::array<std::string_view, SidePlace::kKeys>& keys) const {
    size_t hash = 0;
    for (const std::string_view key : keys) hash = MixHash(hash, TextHash{}(key));
    return hash;
  }
};

struct Draft {
  SidePlace place;
  std::map<std::string_view, std::pair<size_t, int64_t>> kernels;  // Samples and time of each.
  std::map<uint32_t, int64_t> starts_ns;                           // The earliest, by sample.
};

/// Merges entries of one sample, of several kernels; sorts by sample.
void Merge(std::vector<PlaceSums>* sums) {
  std::sort(sums->begin(), sums->end(),
            [](const PlaceSums& a, const PlaceSums& b) { return a.sample < b.sample; });
  size_t kept = 0;
  for (size_t i = 1; i < sums->size(); ++i) {
    const PlaceSums& more = (*sums)[i];
    PlaceSums& one = (*sums)[kept];
    if (one.sample != more.sample) {
      (*sums)[++kept] = more;
      continue;
    }
    SaturatingAdd(&one.count, more.count);
    SaturatingAdd(&one.time_ns, more.time_ns);
    SaturatingAdd(&one.tc_ns, more.tc_ns);
    SaturatingAdd(&one.tc_known_ns, more.tc_known_ns);
    SaturatingAdd(&one.flops, more.flops);
    SaturatingAdd(&one.bytes, more.bytes);
  }
  sums->resize(std::min(sums->size(), kept + 1));
}

}  // namespace

Side::Side(std::string name, const KeptRows& overview, const KeptRows& places,
           const KeptRows& setup)
    : name_(std::move(name)), overview_(overview) {
  FindSamples(places);
  FindPlaces(places);
  std::map<std::string, std::set<std::string>> values;
  for (size_t row = 0; row < setup.size(); ++row) {
    values[std::string(setup.Text(row, "fact"))].emplace(setup.Text(row, "value"));
  }
  for (const auto& [fact, all] : values) {
    std::string& text = facts_[fact];
    for (const std::string& value : all) text += text.empty() ? value : ", " + value;
  }
}

void Side::FindSamples(const KeptRows& places) {
  const auto add = [&](std::string rank, std::string step, double total_ns, size_t row) {
    const auto number = static_cast<uint32_t>(samples_.size());
    if (!sample_of_.emplace(std::pair(rank, step), number).second) return;
    samples_.push_back({std::move(rank), std::move(step), total_ns});
    overview_rows_.push_back(row);
  };
  for (const bool steady : {true, false}) {
    if (!samples_.empty()) break;
    for (size_t row = 0; row < overview_.size(); ++row) {
      const std::string_view step = overview_.Text(row, "step");
      const std::string_view state = overview_.Text(row, "state");
      if (step == kMeanStep || (state == StepStateWord(StepState::kSteady)) != steady) continue;
      add(std::string(overview_.Text(row, "rank")), std::string(step),
          overview_.Number(row, "total_ns").value_or(0), row);
    }
  }
  has_steps_ = !samples_.empty();
  if (!has_steps_) {
    std::set<std::pair<std::string, std::string>> found;
    const std::optional<size_t> step = places.ColumnOf("step");
    for (size_t row = 0; row < places.size() && step; ++row) {
      found.emplace(places.Text(row, "rank"), places.Printed(row, *step));
    }
    // Kernels outside of all steps count as a step only if there is no other.
    const auto outside = [](const auto& one) { return one.second.empty(); };
    if (!std::all_of(found.begin(), found.end(), outside)) std::erase_if(found, outside);
    for (const auto& [rank, number] : found) add(rank, number, 0, SIZE_MAX);
  }
  std::set<std::string_view> ranks;
  for (const Sample& sample : samples_) ranks.insert(sample.rank);
  ranks_ = ranks.size();
}

std::optional<uint32_t> Side::SampleOf(std::string_view rank, std::string_view step) const {
  const auto at = sample_of_.find(std::pair(std::string(rank), std::string(step)));
  return at == sample_of_.end() ? std::nullopt : std::optional(at->second);
}

void Side::FindPlaces(const KeptRows& rows) {
  constexpr std::string_view kKeyFields[] = {"layer", "op", "dir", "shape", "work", "kernel"};
  constexpr std::string_view kFigures[] = {"count", "time_ns", "tc_ns",   "tc_known_ns",
                                           "flops", "bytes",   "start_ns"};
  if (rows.size() == 0) return;
  std::array<size_t, std::size(kKeyFields)> key_columns{};
  std::array<size_t, std::size(kFigures)> figure_columns{};
  for (size_t i = 0; i < key_columns.size(); ++i) key_columns[i] = *rows.ColumnOf(kKeyFields[i]);
  for (size_t i = 0; i < figure_columns.size(); ++i)
    figure_columns[i] = *rows.ColumnOf(kFigures[i]);
  const size_t rank_column = *rows.ColumnOf("rank");
  const size_t step_column = *rows.ColumnOf("step");
  std::unordered_map<std::array<std::string_view, SidePlace::kKeys>, size_t, PlaceHash> place_of;
  std::vector<Draft> drafts;
  // Rows share equal texts, so addresses identify them.
  std::map<std::pair<const char*, int64_t>, std::optional<uint32_t>> samples;
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string_view rank = rows.Text(row, rank_column);
    const int64_t step = rows.Integer(row, step_column).value_or(INT64_MIN);
    const auto [known, fresh] = samples.try_emplace(std::pair(rank.data(), step));
    if (fresh) known->second = SampleOf(rank, rows.Printed(row, step_column));
    if (!known->second) continue;
    std::array<std::string_view, SidePlace::kKeys> keys;
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = rows.Text(row, key_columns[i]);
    const std::string_view kernel = keys[SidePlace::kKernel];
    if (!keys[SidePlace::kOp].empty()) keys[SidePlace::kKernel] = {};
    const auto [at, is_new] = place_of.try_emplace(keys, drafts.size());
    if (is_new) drafts.emplace_back().place.keys = keys;
    Draft& draft = drafts[at->second];
    const auto figure = [&](size_t i) { return rows.Integer(row, figure_columns[i]).value_or(0); };
    const PlaceSums sums = {*known->second, figure(0), figure(1), figure(2),
                            figure(3),      figure(4), figure(5)};
    draft.place.sums.push_back(sums);
    auto& [seen, time_ns] = draft.kernels[kernel];
    ++seen;
    SaturatingAdd(&time_ns, sums.time_ns);
    const int64_t start_ns = rows.Integer(row, figure_columns[6]).value_or(INT64_MAX);
    const auto [start, first] = draft.starts_ns.try_emplace(sums.sample, start_ns);
    if (!first) start->second = std::min(start->second, start_ns);
  }
  const uint32_t last = samples_.empty() ? 0 : static_cast<uint32_t>(samples_.size() - 1);
  const auto order_of = [last](const Draft& draft) {
    const auto start = draft.starts_ns.find(last);
    return start != draft.starts_ns.end() ? std::pair(0, start->second)
                                          : std::pair(1, draft.starts_ns.begin()->second);
  };
  for (Draft& draft : drafts) {
    SidePlace& place = draft.place;
    Merge(&place.sums);
    int64_t most_ns = -1;
    for (const auto& [kernel, seen] : draft.kernels) {
      place.all_kernels.insert(kernel);
      if (2 * seen.first > place.sums.size()) place.usual_kernels.insert(kernel);
      if (seen.second > most_ns) place.main_kernel = kernel;
      most_ns = std::max(most_ns, seen.second);
    }
  }
  std::sort(drafts.begin(), drafts.end(), [&](const Draft& a, const Draft& b) {
    return std::pair(order_of(a), a.place.keys) < std::pair(order_of(b), b.place.keys);
  });
  for (Draft& draft : drafts) places_.push_back(std::move(draft.place));
}

std::vector<double> Side::PartOf(std::string_view field) const {
  std::vector<double> values;
  const std::optional<size_t> column = overview_.ColumnOf(field);
  if (!column || !has_steps_) return values;
  for (const size_t row : overview_rows_) {
    const std::optional<double> value = overview_.Number(row, *column);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

}  // namespace oplens::prof
