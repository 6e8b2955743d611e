#ifndef OPLENS_PROF_VIEWS_MEMORY_NOTES_H_
#define OPLENS_PROF_VIEWS_MEMORY_NOTES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/family.h"
#include "prof/run/memory_life.h"

namespace oplens::prof {

class Run;

/// What views of memory say beside their rows: that an input holds no allocations and what records
/// them, where amounts are of known sizes only, and how many events are odd.
class MemoryNotes {
 public:
  /// `view`: a literal.
  explicit MemoryNotes(std::string_view view) : view_(view) {}

  void Begin(const Run* run);
  /// Counts what is odd in the memory of a rank.
  void Count(const MemoryLife& memory);
  void Merge(const MemoryNotes& other);
  std::vector<std::string> Sentences() const;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->records_, &self->untold_, &self->lacking_);
    auto& counts = self->counts_;
    bytes->Counts(&counts.only_freed, &counts.lost, &counts.without_address, &counts.without_size,
                  &counts.other_size, &counts.same_time, &counts.out_of_order,
                  &counts.over_reserved, &self->left_out_);
  }

 private:
  std::string OddEvents() const;

  std::string_view view_;
  bool records_ = false;
  bool untold_ = false;
  std::array<bool, kFamilyCount> lacking_{};  // Families of profiles without allocations.
  MemoryLife::Counts counts_;
  int64_t left_out_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_NOTES_H_
