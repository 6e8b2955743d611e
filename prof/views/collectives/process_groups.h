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

/// What a process group distributes over its ranks.
enum class GroupKind : uint8_t {
  kUnknown,
  kWorld,     ///< All ranks of the run: for any purpose.
  kData,      ///< Data; each rank has the same model, or a shard of it.
  kTensor,    ///< Parts of each layer.
  kPipeline,  ///< Layers, one stage each.
  kExpert,    ///< Experts of a layer.
  kContext,   ///< Parts of a sequence.
};
constexpr size_t WordCountOf(GroupKind) { return 7; }

/// "", "world", "data", "tensor", "pipeline", "expert", "context".
std::string_view GroupKindWord(GroupKind kind);

/// Kind of a group from its name in the program: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_dp_shard",
/// "pp:0". kUnknown if it names no kind or several ("TENSOR_AND_DATA_PARALLEL_GROUP"); groups whose
/// ranks have the same experts ("EXPERT_DATA_PARALLEL_GROUP") are kData.
GroupKind KindOfDescription(std::string_view description);

/// The ranks of a group, without a list.
struct GroupShape {
  int64_t size = -1;   ///< -1: unknown.
  int64_t first = -1;  ///< First rank; -1: ranks unknown.
  int64_t stride = 0;  ///< Distance between ranks; 0: uneven or unknown.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->size, &self->first, &self->stride);
  }
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

GroupShape ShapeOf(std::span<const int64_t> ranks);

/// The ranks in a text such as "[0, 1]"; nullopt if it is no such list.
std::optional<std::vector<int64_t>> RanksInText(std::string_view text);

/// Kinds of calls in a group, as bits.
enum GroupUse : uint8_t {
  kUsedByPairs = 1,     ///< Sends and receives.
  kUsedByAllToAll = 2,  ///< all_to_all.
  kUsedOtherwise = 4,
};
uint8_t UseOf(CollectiveKind kind);

/// Infers the kind of a group without a telling description; the first rule that holds: all ranks
/// of the run: kWorld; only sends and receives: kPipeline; any all_to_all: kExpert; consecutive
/// ranks: kTensor, which frameworks place next to each other; evenly spaced ranks: kData.
/// `world_size` -1: unknown. A group of one rank is kUnknown.
GroupKind InferGroupKind(const GroupShape& shape, int64_t world_size, uint8_t uses);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_PROCESS_GROUPS_H_
