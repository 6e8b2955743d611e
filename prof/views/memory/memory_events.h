#ifndef OPLENS_PROF_VIEWS_MEMORY_MEMORY_EVENTS_H_
#define OPLENS_PROF_VIEWS_MEMORY_MEMORY_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/run/memory_life.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/common/view.h"
#include "prof/views/memory/memory_notes.h"

namespace oplens::prof {

/// Rows of memory-events: about 80 bytes a piece of memory, and each text once.
class MemoryEventRows : public Partial {
 public:
  MemoryEventRows() : notes_("memory-events") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }
  void Save(ByteWriter* bytes) const override;
  void Load(ByteReader* bytes) override;

  /// Texts are numbers of texts_.
  struct Row {
    uint32_t rank = 0;
    uint32_t op = 0;
    uint32_t around = 0;
    uint32_t layer = 0;
    uint32_t stack = 0;
    int32_t device_id = -1;
    MemorySource source = MemorySource::kFramework;
    MemoryState state = MemoryState::kAlive;
    std::optional<bool> at_peak;
    std::optional<bool> leak;
    int64_t address = 0;  ///< 0: not told.
    int64_t size_bytes = 0;
    // kNoTime: it was not, or the file does not hold it.
    int64_t alloc_ns = kNoTime;
    int64_t free_ns = kNoTime;
    int64_t step = kNoTime;
  };
  static constexpr int64_t kNoTime = INT64_MIN;
  struct ShownRow {
    const Row& row;
    const TextNumbers& texts;
    std::string_view device;
  };

 protected:
  void AddRow(const Row& row) { rows_.push_back(row); }

  TextNumbers texts_;
  MemoryNotes notes_;

 private:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);
  bool IsBefore(const Row& a, const Row& b) const;

  std::vector<Row> rows_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_MEMORY_EVENTS_H_
