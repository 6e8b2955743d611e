#include "prof/views/collectives/loaded_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {
namespace {

/// By what tells profiles of a rank apart, so that the order of merging has no effect.
bool LoadBefore(const RankLoad* a, const RankLoad* b) {
  return std::tuple(a->origin_ns, a->began_ns, a->steps.size()) <
         std::tuple(b->origin_ns, b->began_ns, b->steps.size());
}

/// Nodes as shown: hosts that are known by marks only are numbered in the order of ranks.
class NodeNames {
 public:
  std::string Of(const std::string& node) {
    if (!IsMarkedHost(node)) return node;
    return fmt::format("h{}", numbers_.try_emplace(node, numbers_.size()).first->second);
  }

 private:
  std::map<std::string, size_t> numbers_;
};

}  // namespace

void LoadedRanks::Begin(const Run* run) {
  notes_.Begin(run);
  if (run != nullptr && !run->work().events().empty()) maker_.emplace(*run);
}

void LoadedRanks::End(const Run* run) {
  if (!maker_) return;
  Rank& rank = ranks_[RankName(run->rank())];
  rank.groups.Add(run->trace());
  rank.loads.push_back(maker_->Take());
  kinds_.Add(run->trace());
  maker_.reset();
}

std::vector<std::string> LoadedRanks::Notes() const {
  return call_notes_.SentencesBehind(notes_.Sentences(), view_, ranks_.size());
}

bool LoadedRanks::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return false;
  const auto at = ranks_.find(RankName(*calls.front().rank));
  if (at == ranks_.end()) return false;
  call_notes_.Add(calls);
  kinds_.AddCalls(calls);
  at->second.groups.AddCalls(calls);
  std::set<int64_t> origins;  // Of two profiles with the same origin, the first gets the calls.
  for (RankLoad& load : at->second.loads) {
    if (origins.insert(load.origin_ns).second) AddCallsTo(calls, &load);
  }
  return true;
}

std::vector<CulpritRank> LoadedRanks::Ranks() const {
  NodeNames nodes;
  std::vector<CulpritRank> ranks;
  for (const auto& [name, rank] : ranks_) {
    std::vector<const RankLoad*> loads;
    for (const RankLoad& load : rank.loads) loads.push_back(&load);
    std::sort(loads.begin(), loads.end(), LoadBefore);
    for (const RankLoad* load : loads) {
      CulpritRank& one = ranks.emplace_back();
      one.name = name.text;
      one.load = load;
      one.stage = rank.groups.Stage().value_or(-1);
      one.node = nodes.Of(load->node);
      for (const auto& [key, group] : load->groups) {
        one.group_kinds[key] = GroupKindWord(kinds_.Of({group.name, group.ranks, group.size}));
      }
    }
  }
  return ranks;
}

}  // namespace oplens::prof
