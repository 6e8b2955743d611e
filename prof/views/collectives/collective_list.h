#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_LIST_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_LIST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "ops/dtype.h"
#include "prof/table/field.h"
#include "prof/table/sink.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/collective_set.h"
#include "prof/views/common/rank_order.h"

namespace oplens::prof {

// Keys of calls, and of groups of similar calls.
inline constexpr Field kCollectiveKindField = {
    "kind",
    "Kind",
    "",
    FieldType::kText,
    14,
    "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter, send, "
    "recv, send_recv (a kernel of either), barrier, unknown",
    Fold::kKey};
inline constexpr Field kCollectiveGroupField = {"group",
                                                "Group",
                                                "",
                                                FieldType::kText,
                                                7,
                                                "name of the process group; empty where it is "
                                                "not recorded",
                                                Fold::kKey};
inline constexpr Field kCollectiveRanksField = {
    "ranks",   "Ranks", "", FieldType::kName, 12, "ranks of the group, as recorded: [0, 1]",
    Fold::kKey};
inline constexpr Field kCollectiveGroupSizeField = {
    "group_size",
    "GroupSize",
    "",
    FieldType::kInteger,
    9,
    "number of ranks of the group, as recorded; without a group those of the run, if all of them "
    "have the call",
    Fold::kKey};
inline constexpr Field kCollectiveGroupKindField = {
    "group_kind",
    "GroupKind",
    "",
    FieldType::kText,
    9,
    "what the group shares: world, data, tensor, pipeline, expert, context; from its description, "
    "else from its ranks and use",
    Fold::kKey};
inline constexpr Field kCollectiveDtypeField = {"dtype", "DType",     "",        FieldType::kText,
                                                6,       "data type", Fold::kKey};
inline constexpr Field kCollectiveSizeField = {
    "size_bytes",
    "Size(B)",
    "B",
    FieldType::kInteger,
    11,
    "size of the message: for all_gather and gather the whole output, for reduce_scatter and "
    "scatter the whole input, for all_to_all what the rank sends, for others the buffer; a barrier "
    "has none",
    Fold::kKey};

/// A data type as rows show it; "" if unknown.
std::string_view ShownDType(ops::DType dtype);
/// nullopt for -1, which stands for unknown.
inline std::optional<int64_t> CollectiveKnown(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

std::span<const Field> CollectiveCallFields();

/// Calls with all that is shown of them, for views that list calls.
class CollectiveList {
 public:
  /// The calls of a rank, by start.
  void Add(std::span<const CollectiveRow> calls);
  void Merge(const CollectiveList& other);
  /// In order of rank.
  void Emit(Sink* sink) const;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    if constexpr (Bytes::kReads) {
      self->Load(bytes);
    } else {
      self->Save(bytes);
    }
  }

  struct Entry {
    std::optional<int64_t> step;
    int64_t since_ns = 0;  // From the first event of the profile to its start.
    int64_t group_size = -1;
    uint32_t group = 0;
    CollectiveSet::Call call;  // Its step, group and work are not set.
    CollectiveShare share;
  };

 private:
  void Append(const Entry& entry, uint32_t group, std::vector<Entry>* to);
  template <typename Bytes, typename Of>
  static void TransferEntry(Bytes* bytes, Of* entry);

  void Save(ByteWriter* bytes) const;
  void Load(ByteReader* bytes);

  CollectiveGroups groups_;
  std::set<std::string> last_ranks_;  // Targets of CollectiveShare::last_rank
  std::set<WorkName> last_works_;     // and last_work.
  std::map<RankName, std::vector<Entry>> ranks_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_LIST_H_
