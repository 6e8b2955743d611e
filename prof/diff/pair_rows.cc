#include "prof/diff/pair_rows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

namespace oplens::prof {
namespace {

/// Places join layers by ':', modules their path by '/'.
std::string PathOfLayer(std::string layer) {
  std::replace(layer.begin(), layer.end(), ':', '/');
  return layer;
}

/// Lengths of the paths around a path and of its own, outermost first.
std::vector<size_t> EndsOf(std::string_view path) {
  std::vector<size_t> ends;
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    ends.push_back(at);
  }
  ends.push_back(path.size());
  return ends;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::map<RowKeys, RowKeys> PairPaths(const std::vector<RowKeys>& base_alone,
                                     const std::vector<RowKeys>& now_alone,
                                     const std::map<std::string, std::string>& renamed) {
  const std::set<RowKeys> free(now_alone.begin(), now_alone.end());
  std::map<RowKeys, RowKeys> pairs;
  std::map<std::string, std::string> now_of;
  // Parents sort before what is in them.
  for (const RowKeys& base : base_alone) {
    const std::string& path = base.front();
    const auto found = renamed.find(path);
    if (found == renamed.end()) continue;
    const RowKeys now = {found->second};
    if (!free.contains(now) || pairs.contains(now)) continue;
    const std::string parent = ParentOf(path);
    const auto of_parent = now_of.find(parent);
    if (ParentOf(now.front()) != (of_parent == now_of.end() ? parent : of_parent->second)) continue;
    pairs[now] = base;
    now_of[path] = now.front();
  }
  return pairs;
}

}  // namespace

std::map<std::string, std::string> RenamedPaths(const DiffTable& operators) {
  std::map<std::string, std::string> renamed;
  const auto is_layer = [](const Field& key) { return key.key == "layer"; };
  const auto at = std::ranges::find_if(operators.keys, is_layer);
  if (at == operators.keys.end() || !operators.main) return renamed;
  const auto layer = static_cast<size_t>(at - operators.keys.begin());
  std::map<std::string, std::map<std::string, double>> times;
  for (const DiffRow& row : operators.rows) {
    const Figure& time = row.figures[*operators.main];
    if (!time.base || !time.now) continue;
    const std::string now = PathOfLayer(row.keys[layer]);
    const std::string base = row.base_keys.empty() ? now : PathOfLayer(row.base_keys[layer]);
    if (base.empty() || now.empty()) continue;
    const std::vector<size_t> base_ends = EndsOf(base);
    const std::vector<size_t> now_ends = EndsOf(now);
    if (base_ends.size() != now_ends.size()) continue;
    for (size_t i = 0; i < base_ends.size(); ++i) {
      times[base.substr(0, base_ends[i])][now.substr(0, now_ends[i])] += *time.base;
    }
  }
  for (const auto& [base, of_now] : times) {
    const auto most =
        std::ranges::max_element(of_now, {}, [](const auto& one) { return one.second; });
    if (most->first != base) renamed[base] = most->first;
  }
  return renamed;
}

std::map<RowKeys, RowKeys> PairRows(const std::vector<Field>& keys,
                                    const std::vector<RowKeys>& base_alone,
                                    const std::vector<RowKeys>& now_alone,
                                    const std::map<std::string, std::string>& renamed) {
  std::map<RowKeys, RowKeys> pairs;
  if (keys.size() != 1) return pairs;
  if (keys.front().key == "path") return PairPaths(base_alone, now_alone, renamed);
  if (keys.front().key != "device" || base_alone.size() != now_alone.size()) return pairs;
  for (size_t i = 0; i < now_alone.size(); ++i) pairs[now_alone[i]] = base_alone[i];
  return pairs;
}

}  // namespace oplens::prof
