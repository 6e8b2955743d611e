#include "prof/diff/tb_calls.h"

#include <algorithm>
#include <map>

#include "base/saturating.h"
#include "prof/diff/compat_diff.h"

namespace oplens::prof::tb {

Calls::Calls(const DiffInput& input, std::vector<std::string>* notes) {
  const KeptRows& rows = input.tables->At(0);
  const std::string_view rank = FirstRank(input, notes);
  std::vector<uint32_t> open;  // By level.
  const auto close = [&](size_t level) {
    for (; open.size() > level; open.pop_back()) {
      calls_[open.back()].end = static_cast<uint32_t>(calls_.size());
    }
  };
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.Text(row, "rank") != rank) continue;
    close(static_cast<size_t>(rows.Count(row, "level")));
    open.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.push_back({rows.Text(row, "kind"), rows.Text(row, "name"),
                      rows.Count(row, "listed") != 0, 0, rows.Count(row, "host_total_ns"),
                      rows.Count(row, "host_self_ns"), rows.Count(row, "device_total_ns"),
                      rows.Count(row, "device_self_ns")});
  }
  close(0);
}

Value ValueOf(const Calls& calls, const Places& places) {
  Value value;
  value.name = places.empty() ? "Blank" : "CompositeNodes";
  if (places.size() == 1) value.name = calls.At(places.front()).name;
  for (const uint32_t place : places) {
    const Call& call = calls.At(place);
    value.host_ns = SaturatingAdd(value.host_ns, call.host_total_ns);
    value.device_ns = SaturatingAdd(value.device_ns, call.device_total_ns);
    value.value_ns = SaturatingAdd(
        value.value_ns, call.device_total_ns != 0 ? call.device_total_ns : call.host_total_ns);
  }
  return value;
}

Matches MatchesOf(const Calls& base, const Places& left, const Calls& now, const Places& right) {
  using Key = std::pair<std::string_view, std::string_view>;
  const auto key_of = [](const Call& call) { return Key(call.kind, call.name); };
  std::map<Key, std::vector<size_t>> places;  // In `right`.
  for (size_t j = 0; j < right.size(); ++j) {
    const Call& call = now.At(right[j]);
    if (!call.kind.empty()) places[key_of(call)].push_back(j);
  }
  Matches matches;
  size_t next = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto same = places.find(key_of(base.At(left[i])));
    if (same == places.end()) continue;
    const auto j = std::lower_bound(same->second.begin(), same->second.end(), next);
    if (j == same->second.end()) continue;
    matches.emplace_back(i, *j);
    next = *j + 1;
  }
  return matches;
}

}  // namespace oplens::prof::tb
