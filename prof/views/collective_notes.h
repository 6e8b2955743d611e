#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_NOTES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_NOTES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/views/collective_row.h"

namespace oplens::prof {

/// What a reader of calls that were matched must know of them.
class CollectiveNotes {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->calls_, &self->alone_, &self->enqueued_, &self->uneven_, &self->apart_);
    bytes->Values(&self->guessed_group_);
  }

  void Add(std::span<const CollectiveRow> calls);
  void Merge(const CollectiveNotes& other);
  /// Each begins with the name of the view. `ranks`: how many there are.
  std::vector<std::string> Sentences(std::string_view view, size_t ranks) const;

 private:
  int64_t calls_ = 0;
  int64_t alone_ = 0;
  int64_t enqueued_ = 0;
  int64_t uneven_ = 0;
  int64_t apart_ = 0;
  bool guessed_group_ = false;  // Calls were matched of which no group is recorded.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_NOTES_H_
