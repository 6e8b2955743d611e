#include "prof/views/collectives/rank_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/parse_number.h"

namespace oplens::prof {
namespace {

/// Kinds that say where a rank is.
constexpr GroupKind kPlaces[] = {GroupKind::kData, GroupKind::kTensor, GroupKind::kPipeline,
                                 GroupKind::kExpert, GroupKind::kContext};

int64_t PlaceIn(std::span<const int64_t> ranks, int64_t rank) {
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  return rank < 0 || at == ranks.end() ? -1 : at - ranks.begin();
}

int64_t RankGroupsNumberOf(std::string_view rank) {
  int64_t number = -1;
  ParseNumber(rank, &number);
  return number;
}

RankGroup GroupOf(const CollectiveRow& row) {
  RankGroup group;
  group.shape.size = row.group->size;
  if (const auto ranks = RanksInText(row.group->ranks)) {
    group.shape = ShapeOf(*ranks);
    group.place = PlaceIn(*ranks, RankGroupsNumberOf(*row.rank));
  }
  return group;
}

}  // namespace

std::string GroupIdentity(const CollectiveGroup& group) {
  return fmt::format("{} {} {:x}", group.name, group.size, StableHash(group.ranks));
}

// The larger of each, so that the order has no effect: -1 and 0 are not known.
void RankGroup::Merge(const RankGroup& other) {
  shape = std::max(shape, other.shape);
  place = std::max(place, other.place);
  uses |= other.uses;
  told = std::max(told, other.told);
}

void RankGroups::Add(const Trace& trace) {
  world_size_ = std::max(world_size_, trace.world_size);
  for (const ProcessGroup& listed : trace.process_groups) {
    RankGroup group;
    group.shape = ShapeOf(listed.ranks);
    if (listed.ranks.empty()) group.shape.size = std::max<int64_t>(-1, listed.size);
    group.place = PlaceIn(listed.ranks, trace.rank);
    group.told = KindOfDescription(trace.strings.View(listed.description));
    groups_[std::string(trace.strings.View(listed.name))].Merge(group);
  }
}

void RankGroups::AddCalls(std::span<const CollectiveRow> calls) {
  std::map<const CollectiveGroup*, RankGroup*> known;
  for (const CollectiveRow& row : calls) {
    world_size_ = std::max(world_size_, row.recording->world_size);
    if (!row.group->known()) continue;
    RankGroup*& group = known[row.group];
    if (group == nullptr) {
      group = &groups_[row.group->name.empty() ? row.group->ranks : row.group->name];
      // What the file lists of it need not be read again.
      if (group->shape.first < 0) group->Merge(GroupOf(row));
    }
    if (row.call.kind != CollectiveKind::kUnknown) group->uses |= UseOf(row.call.kind);
  }
}

void RankGroups::Merge(const RankGroups& other) {
  world_size_ = std::max(world_size_, other.world_size_);
  for (const auto& [name, group] : other.groups_) groups_[name].Merge(group);
}

RankGroups::Found RankGroups::FoundOf(const std::string& name, const RankGroup& group) const {
  const bool told = group.told != GroupKind::kUnknown;
  return {&name, &group, told ? group.told : InferGroupKind(group.shape, world_size_, group.uses),
          told};
}

std::optional<RankGroups::Found> RankGroups::Of(GroupKind kind) const {
  std::optional<Found> largest;
  for (const auto& [name, group] : groups_) {
    const Found found = FoundOf(name, group);
    if (found.kind != kind) continue;
    // What is told goes before what is guessed.
    const auto key = [](const Found& one) { return std::pair(one.told, one.group->shape.size); };
    if (!largest || key(found) > key(*largest)) largest = found;
  }
  return largest;
}

std::optional<int64_t> RankGroups::Stage() const {
  const auto pipeline = Of(GroupKind::kPipeline);
  if (!pipeline || pipeline->group->place < 0) return std::nullopt;
  return pipeline->group->place;
}

std::string RankGroups::Place() const {
  std::string text;
  for (const GroupKind kind : kPlaces) {
    const auto found = Of(kind);
    if (!found || found->group->place < 0) continue;
    if (found->group->shape.size < 2) continue;
    if (!text.empty()) text += ", ";
    text +=
        fmt::format("{} {}/{}", GroupKindWord(kind), found->group->place, found->group->shape.size);
  }
  return text;
}

std::string_view RankGroups::PlaceSource() const {
  bool any = false;
  for (const GroupKind kind : kPlaces) {
    const auto found = Of(kind);
    if (!found || found->group->place < 0 || found->group->shape.size < 2) continue;
    if (!found->told) return "inferred";
    any = true;
  }
  return any ? "told" : "";
}

}  // namespace oplens::prof
