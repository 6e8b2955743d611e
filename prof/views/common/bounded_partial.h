#ifndef OPLENS_PROF_VIEWS_COMMON_BOUNDED_PARTIAL_H_
#define OPLENS_PROF_VIEWS_COMMON_BOUNDED_PARTIAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/sums.h"
#include "prof/table/columns.h"
#include "prof/views/common/bounded_groups.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// In which order columns of words of --by come.
enum class ByOrder : uint8_t { kOfColumns, kOfWords };

/// A partial of sums by key within GroupLimits (BoundedGroups). Key::TextBytes() is what the texts
/// of a key count against the limit; a key beyond it counts under Key::Other() instead.
template <typename Key, typename Sums, typename Row, typename NotesOfView>
class BoundedPartial : public Partial {
 public:
  void Begin(const Run* run) override { notes_.Begin(run); }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const BoundedPartial&>(other);
    for (const auto& group : more.groups_.all()) Take(*group.key, group.sums);
    MergeInto(&notes_, more.notes_);
  }
  std::vector<Field> Fields() const override { return FieldsOf(columns_); }
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }
  void Save(ByteWriter* bytes) const override {
    bytes->Values(&notes_);
    bytes->Number(groups_.size());
    for (const auto& [key, group] : groups_.index()) bytes->Values(&key, &groups_[group]);
  }
  void Load(ByteReader* bytes) override {
    bytes->Values(&notes_);
    for (size_t left = bytes->Size(); left > 0; --left) {
      Key key;
      Sums sums;
      bytes->Values(&key, &sums);
      Check(key, bytes);
      Take(key, sums);
    }
  }

 protected:
  /// `view`: a literal. `words`: of --by that it takes. `columns` live as long as this object.
  BoundedPartial(std::string_view view, const ViewOptions& options,
                 std::span<const std::string_view> words, std::span<const Column<Row>> columns,
                 ByOrder order)
      : notes_(view),
        words_(view, options, words),
        columns_(order == ByOrder::kOfWords ? words_.InOrder(columns) : words_.Of(columns)) {}

  /// Throws Error where a key that was read is none.
  virtual void Check(const Key& key, ByteReader* bytes) const {
    static_cast<void>(key);
    static_cast<void>(bytes);
  }
  /// Whether --by names a word.
  bool By(std::string_view word) const { return words_.Has(word); }
  void Take(const Key& key, const Sums& sums) {
    uint32_t group = groups_.NumberOf(key, key.TextBytes());
    if (group == groups_.kOther) group = groups_.MadeNumberOf(key.Other());
    MergeInto(&groups_[group], sums);
  }

  BoundedGroups<Sums, std::map<Key, uint32_t>> groups_;
  NotesOfView notes_;
  ByWords words_;
  Columns<Row> columns_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_BOUNDED_PARTIAL_H_
