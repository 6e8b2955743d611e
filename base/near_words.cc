#include "base/near_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/shown_text.h"

namespace oplens {
namespace {

constexpr size_t kMostNear = 3;
constexpr size_t kLongestWord = 40;  // Longer words match nothing.

constexpr Alias kAliases[] = {
    {"duration", "sil"},
    {"duration", "dur"},
    {"duration", "duration_ns"},
    {"occupancy", "theoretical_occupancy_pct"},
    {"occupancy_pct", "achieved_occupancy_pct"},
    {"stack", "trace"},
    {"time", "sil"},
    {"time", "dur"},
    {"time", "total"},
    {"time", "time_ns"},
};

/// Possible meanings of a word. Only suggested, because the meaning is uncertain.
struct Synonyms {
  std::string_view word;
  std::string_view names[3];
};

constexpr Synonyms kSynonyms[] = {
    {"args", {"params", "shape"}},
    {"bandwidth", {"gbps", "mean_gbps", "pct_dram"}},
    {"comm", {"collectives", "distributed", "comm_ns"}},
    {"correlation", {"corr"}},
    {"count", {"calls", "launches"}},
    {"datatype", {"dtype"}},
    {"delay", {"launch_delay", "launch_delay_ns", "delay_ns"}},
    {"direction", {"dir"}},
    {"duration", {"total", "sil", "dur"}},
    {"efficiency", {"pct_math", "efficiency_pct"}},
    {"file", {"trace", "rank"}},
    {"flamegraph", {"stacks"}},
    {"framework", {"operators", "events"}},
    {"function", {"kernel", "op", "name"}},
    {"gaps", {"idle"}},
    {"gpu", {"device", "gpu", "name"}},
    {"hta", {"hta", "temporal", "queue"}},
    {"index", {"idx"}},
    {"intensity", {"ai"}},
    {"iteration", {"step"}},
    {"latency", {"launch_delay", "latency_ns", "launches"}},
    {"layers", {"layer", "modules"}},
    {"line", {"trace", "stack"}},
    {"memcpy", {"copies", "bandwidth"}},
    {"module", {"layer", "mod", "modules"}},
    {"name", {"kernel", "op", "name_full"}},
    {"nccl", {"collectives", "distributed"}},
    {"operator", {"op", "operators"}},
    {"percent", {"share", "share_pct", "window_pct"}},
    {"process", {"pid", "rank"}},
    {"pytorch", {"torch", "torch-legacy"}},
    {"registers", {"regs"}},
    {"scope", {"layer", "range"}},
    {"sequence", {"seq"}},
    {"shapes", {"shape", "params"}},
    {"sharedmem", {"smem"}},
    {"sil", {"total", "dur", "time_ns"}},
    {"size", {"bytes", "size_bytes", "shape"}},
    {"summary", {"groups", "overview"}},
    {"tensorboard", {"tb"}},
    {"tensorcore", {"tc", "tc_elig"}},
    {"thread", {"tid"}},
    {"time", {"total", "total_ns", "sil"}},
    {"timeline", {"trace", "temporal"}},
    {"type", {"dtype", "kind"}},
    {"utilization", {"gpu", "pct_math", "busy_pct"}},
};

/// Edits that turn one word into the other: insert, delete, replace, or swap neighbours ("optimal
/// string alignment").
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before;
  std::vector<size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  std::vector<size_t> row(b.size() + 1);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
    row.resize(b.size() + 1);
  }
  return last[b.size()];
}

/// Distance of two words in half letters; nullopt: unrelated. A prefix is closer than another word
/// at the same edit distance.
std::optional<size_t> Unlikeness(std::string_view word, std::string_view name) {
  constexpr size_t kLeastBeginning = 3;
  const bool begins =
      word.size() >= kLeastBeginning && name.size() > word.size() && name.starts_with(word);
  const size_t length = std::max(word.size(), name.size());
  const size_t distance = EditDistance(word, name);
  if (distance <= std::max<size_t>(1, length / 4) &&
      distance < std::min(word.size(), name.size())) {
    return 2 * distance - (begins ? 1 : 0);
  }
  return begins ? std::optional(2 * distance - 1) : std::nullopt;
}

class Nearest {
 public:
  explicit Nearest(std::span<const std::string_view> names) : names_(names) {}

  bool Has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  void Add(std::string_view name) {
    if (near_.size() == kMostNear) return;
    if (std::find(near_.begin(), near_.end(), name) == near_.end()) near_.push_back(name);
  }
  std::vector<std::string_view> Take() { return std::move(near_); }

 private:
  std::span<const std::string_view> names_;
  std::vector<std::string_view> near_;
};

}  // namespace

std::span<const Alias> Aliases() { return kAliases; }

size_t FindName(std::string_view word, std::span<const std::string_view> names) {
  const auto place = [&](std::string_view name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const size_t own = place(word);
  if (own < names.size()) return own;
  for (const Alias& alias : kAliases) {
    if (alias.word == word && place(alias.name) < names.size()) return place(alias.name);
  }
  return names.size();
}

std::vector<std::string_view> NearNames(std::string_view word,
                                        std::span<const std::string_view> names) {
  Nearest near(names);
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string lower = ToLowerText(word);
  for (const std::string_view name : names) {
    if (ToLowerText(name) == lower) near.Add(name);
  }
  for (const Synonyms& row : kSynonyms) {
    // Allow one wrong letter in a synonym: "modul".
    if (EditDistance(lower, row.word) > (row.word.size() > 4 ? 1 : 0)) continue;
    for (const std::string_view name : row.names) {
      if (near.Has(name)) near.Add(name);
    }
  }
  std::vector<std::pair<size_t, std::string_view>> alike;
  const auto compare = [&](std::string_view with) {
    if (const auto unlike = Unlikeness(lower, ToLowerText(with))) alike.emplace_back(*unlike, with);
  };
  for (const Alias& alias : kAliases) {
    if (near.Has(alias.name) && !near.Has(alias.word)) compare(alias.word);
  }
  for (const std::string_view name : names) compare(name);
  std::stable_sort(alike.begin(), alike.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Suggest only those as near as the best one.
  for (const auto& [unlike, name] : alike) {
    if (unlike == alike.front().first) near.Add(name);
  }
  return near.Take();
}

std::string NoSuchName(std::string_view kind, std::string_view word,
                       std::span<const std::string_view> names, std::string_view list) {
  std::string text = fmt::format("there is no {} '{}'", kind, prof::ShownText(word));
  const std::vector<std::string_view> near = NearNames(word, names);
  if (near.empty()) return fmt::format("{}; {} {}", text, list, fmt::join(names, ","));
  text += ": ";
  for (size_t i = 0; i < near.size(); ++i) {
    text += i == 0 ? "" : i + 1 == near.size() ? " or " : ", ";
    text += near[i];
  }
  return text + "?";
}

}  // namespace oplens
