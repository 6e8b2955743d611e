#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_PROCESS_GROUPS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_PROCESS_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prof/run/collective_kind.h"

namespace oplens::prof {

/// What the ranks of a process group share among them.
enum class GroupKind : uint8_t {
  kUnknown,
  kWorld,     ///< All ranks of the run: it may serve anything.
  kData,      ///< Each has the same model, or a shard of it, and other data.
  kTensor,    ///< Parts of each layer.
  kPipeline,  ///< Layers, one stage each.
  kExpert,    ///< Experts of a layer.
  kContext,   ///< Parts of a sequence.
};
constexpr size_t WordCountOf(GroupKind) { return 7; }

/// "", "world", "data", "tensor", "pipeline", "expert", "context".
std::string_view GroupKindWord(GroupKind kind);

/// What a program's own name of a group says: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_dp_shard",
/// "pp:0". kUnknown where it says none, or several ("TENSOR_AND_DATA_PARALLEL_GROUP"); experts of
/// which each rank has the same ("EXPERT_DATA_PARALLEL_GROUP") are kData.
GroupKind KindOfDescription(std::string_view description);

/// Which ranks a group has, without a list of them.
struct GroupShape {
  int64_t size = -1;   ///< -1: not known.
  int64_t first = -1;  ///< Rank; -1: ranks are not known.
  int64_t stride = 0;  ///< From each rank to the next; 0: they are not evenly apart, or not known.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->size, &self->first, &self->stride);
  }
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

GroupShape ShapeOf(std::span<const int64_t> ranks);

/// The ranks that a text such as "[0, 1]" lists; nullopt where it is no such list.
std::optional<std::vector<int64_t>> RanksInText(std::string_view text);

/// What was called in a group, as bits.
enum GroupUse : uint8_t {
  kUsedByPairs = 1,     ///< Sends and receives.
  kUsedByAllToAll = 2,  ///< all_to_all.
  kUsedOtherwise = 4,
};
uint8_t UseOf(CollectiveKind kind);

/// What a group is by its shape and by what it is used for, where its description does not say; the
/// first of these that holds. All ranks of the run: kWorld. Nothing but sends and receives:
/// kPipeline. Some all_to_all: kExpert. Consecutive ranks: kTensor, which frameworks put next to
/// each other. Ranks that are evenly apart: kData. `world_size` -1: not known. Groups of one rank
/// are kUnknown.
GroupKind InferGroupKind(const GroupShape& shape, int64_t world_size, uint8_t uses);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_PROCESS_GROUPS_H_
