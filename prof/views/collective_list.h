#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_LIST_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_LIST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/table/sink.h"
#include "prof/views/collective_groups.h"
#include "prof/views/collective_row.h"
#include "prof/views/rank_order.h"

namespace oplens::prof {

/// Calls with all that is shown of each (CollectiveCallFields), for who lists them.
class CollectiveList {
 public:
  /// The calls of a rank, by start.
  void Add(std::span<const CollectiveRow> calls);
  void Merge(const CollectiveList& other);
  /// By rank.
  void Emit(Sink* sink) const;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    if constexpr (Bytes::kReads) {
      self->Load(bytes);
    } else {
      self->Save(bytes);
    }
  }

 private:
  struct Entry {
    std::optional<int64_t> step;
    int64_t since_ns = 0;  // The start, from the first event of the profile.
    int64_t group_size = -1;
    uint32_t group = 0;
    CollectiveSet::Call call;  // Without place of a step, numbers of a group and of work.
    CollectiveShare share;
  };
  void Append(const Entry& entry, uint32_t group, std::vector<Entry>* to);
  template <typename Bytes, typename Of>
  static void TransferEntry(Bytes* bytes, Of* entry);

  void Save(ByteWriter* bytes) const;
  void Load(ByteReader* bytes);
  std::vector<Cell> CellsOf(const std::string& rank, const Entry& entry) const;

  CollectiveGroups groups_;
  std::set<std::string> last_ranks_;  // What CollectiveShare::last_rank points to,
  std::set<WorkName> last_works_;     // and last_work.
  std::map<std::string, std::vector<Entry>, RankBefore> ranks_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_LIST_H_
