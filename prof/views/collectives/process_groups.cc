#include "prof/views/collectives/process_groups.h"

#include <charconv>
#include <string>

#include "base/ascii.h"
#include "base/saturating.h"

namespace oplens::prof {
namespace {

struct ProcessGroupsWord {
  std::string_view word;
  GroupKind kind;
};

constexpr ProcessGroupsWord kProcessGroupsWords[] = {
    {"dp", GroupKind::kData},         {"ddp", GroupKind::kData},
    {"fsdp", GroupKind::kData},       {"hsdp", GroupKind::kData},
    {"data", GroupKind::kData},       {"replicate", GroupKind::kData},
    {"tp", GroupKind::kTensor},       {"tensor", GroupKind::kTensor},
    {"pp", GroupKind::kPipeline},     {"pipeline", GroupKind::kPipeline},
    {"pipe", GroupKind::kPipeline},   {"ep", GroupKind::kExpert},
    {"expert", GroupKind::kExpert},   {"experts", GroupKind::kExpert},
    {"moe", GroupKind::kExpert},      {"cp", GroupKind::kContext},
    {"context", GroupKind::kContext}, {"sequence", GroupKind::kContext},
};

/// The word that `text` begins with, in small letters; it is cut off `text`, with what follows up
/// to the next.
std::string TakeWord(std::string_view* text) {
  std::string word;
  while (!text->empty() && IsLetter(text->front())) {
    word += static_cast<char>(text->front() | 0x20);
    text->remove_prefix(1);
  }
  while (!text->empty() && !IsLetter(text->front())) text->remove_prefix(1);
  return word;
}

constexpr uint32_t ProcessGroupsBitOf(GroupKind kind) { return 1u << static_cast<uint32_t>(kind); }

}  // namespace

std::string_view GroupKindWord(GroupKind kind) {
  constexpr std::string_view kNames[] = {"",         "world",  "data",   "tensor",
                                         "pipeline", "expert", "context"};
  return kNames[static_cast<size_t>(kind)];
}

GroupKind KindOfDescription(std::string_view description) {
  uint32_t kinds = 0;
  while (!description.empty()) {
    const std::string own = TakeWord(&description);
    for (const ProcessGroupsWord& word : kProcessGroupsWords) {
      if (word.word == own) kinds |= ProcessGroupsBitOf(word.kind);
    }
  }
  // Who has the same experts, or parts of the same expert, is no group of experts.
  if (kinds != ProcessGroupsBitOf(GroupKind::kExpert))
    kinds &= ~ProcessGroupsBitOf(GroupKind::kExpert);
  // "DATA_PARALLEL_GROUP_WITH_CP": those who have the same model, parts of a sequence or not.
  if ((kinds & ProcessGroupsBitOf(GroupKind::kData)) != 0)
    kinds &= ~ProcessGroupsBitOf(GroupKind::kContext);
  for (const ProcessGroupsWord& word : kProcessGroupsWords) {
    if (kinds == ProcessGroupsBitOf(word.kind)) return word.kind;
  }
  return GroupKind::kUnknown;
}

GroupShape ShapeOf(std::span<const int64_t> ranks) {
  GroupShape shape;
  shape.size = static_cast<int64_t>(ranks.size());
  if (ranks.empty()) return shape;
  shape.first = ranks[0];
  if (ranks.size() < 2) return shape;
  const int64_t stride = SaturatingDifference(ranks[1], ranks[0]);
  for (size_t i = 1; i < ranks.size(); ++i) {
    if (SaturatingDifference(ranks[i], ranks[i - 1]) != stride) return shape;
  }
  if (stride > 0) shape.stride = stride;
  return shape;
}

std::optional<std::vector<int64_t>> RanksInText(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> ranks;
  while (!text.empty()) {
    int64_t rank = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (problem != std::errc() || rank < 0) return std::nullopt;
    ranks.push_back(rank);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t next = text.find_first_not_of(", ");
    if (next == 0) return std::nullopt;
    text = next == std::string_view::npos ? std::string_view() : text.substr(next);
  }
  return ranks;
}

uint8_t UseOf(CollectiveKind kind) {
  if (IsPointToPoint(kind)) return kUsedByPairs;
  return kind == CollectiveKind::kAllToAll ? kUsedByAllToAll : kUsedOtherwise;
}

GroupKind InferGroupKind(const GroupShape& shape, int64_t world_size, uint8_t uses) {
  if (shape.size == 0 || shape.size == 1) return GroupKind::kUnknown;
  if (shape.size > 1 && shape.size == world_size) return GroupKind::kWorld;
  if (uses == kUsedByPairs) return GroupKind::kPipeline;
  if ((uses & kUsedByAllToAll) != 0) return GroupKind::kExpert;
  if (shape.stride == 1) return GroupKind::kTensor;
  return shape.stride > 1 ? GroupKind::kData : GroupKind::kUnknown;
}

}  // namespace oplens::prof
