#ifndef OPLENS_PROF_VIEWS_MEMORY_MEMORY_NOTES_H_
#define OPLENS_PROF_VIEWS_MEMORY_MEMORY_NOTES_H_

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/sums.h"
#include "parse/model/family.h"
#include "prof/run/memory_life.h"
#include "prof/table/field.h"

namespace oplens::prof {

class Run;

inline constexpr Field kMemoryDeviceField = {
    "device", "Device", "", FieldType::kText, 6, "CPU, GPU0, ...: where the memory is", Fold::kKey};
inline constexpr Field kMemorySourceField = {
    "source",
    "Source",
    "",
    FieldType::kText,
    9,
    "framework: memory from its allocator; driver: memory from cudaMalloc and the like. The "
    "framework gets its memory from the driver: never add the two",
    Fold::kKey};

/// Notes of memory views: that an input has no allocations and how to record them, that amounts
/// cover known sizes only, and how many events are inconsistent.
class MemoryNotes {
 public:
  /// `view`: a literal.
  explicit MemoryNotes(std::string_view view) : view_(view) {}

  void Begin(const Run* run);
  /// Counts inconsistent events in the memory of a rank.
  void Count(const MemoryLife& memory);
  void Merge(const MemoryNotes& other) { MergeMembers(this, other); }
  std::vector<std::string> Sentences() const;

 private:
  std::string OddEvents() const;

  std::string_view view_;
  Any records_;
  Any unknown_sizes_;
  std::array<Any, kFamilyCount> lacking_;  // Families of profiles without allocations.
  MemoryLife::Counts counts_;
  oplens::Count left_out_;

 public:
  static constexpr std::tuple kMembers{&MemoryNotes::records_, &MemoryNotes::unknown_sizes_,
                                       &MemoryNotes::lacking_, &MemoryNotes::counts_,
                                       &MemoryNotes::left_out_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_MEMORY_NOTES_H_
