#ifndef OPLENS_PROF_VIEWS_COMMON_GROUP_VIEW_H_
#define OPLENS_PROF_VIEWS_COMMON_GROUP_VIEW_H_

// A view of sums by key that is no class: columns, and functions that find the sums of a rank. This
// header brings all that most of them include. docs/adding.md has such a view whole.

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {

template <typename Item>
Item ItemIn(const Column<Item>& column);
template <const auto& columns>
using ColumnRow = decltype(ItemIn(columns[0]));
template <typename Row>
using RowKey = std::remove_cvref_t<decltype(Row::key)>;
template <typename Row>
using RowSums = std::remove_cvref_t<decltype(Row::sums)>;

/// The groups of a view with these columns, as its functions see them. `Sums`: what a key has, if
/// its rows show parts of it.
template <const auto& columns, typename Sums = RowSums<ColumnRow<columns>>>
class ViewGroups : public GroupedPartial<RowKey<ColumnRow<columns>>, Sums, ColumnRow<columns>> {
  using Base = GroupedPartial<RowKey<ColumnRow<columns>>, Sums, ColumnRow<columns>>;

 public:
  ViewGroups(const View& view, const ViewOptions& options)
      : Base(view.name, options, view.by, columns) {}

  using Base::By;
  using Base::Take;
};

/// The partial of a view of groups. `find` finds those of a rank that has a trace:
///     void FindOwn(const Run& run, Groups* groups);
/// or adds one of its kernels:
///     void AddOwn(const Run& run, const PricedKernel& kernel, Groups* groups);
/// `emit`, if rows are not the keys in their order:
///     void EmitOwn(const std::map<Key, Sums>& groups, TableOf<Row>* table);
template <const View& view, typename Groups, auto find, auto emit>
class FoundGroups : public Groups {
 public:
  explicit FoundGroups(const ViewOptions& options) : Groups(view, options) {}

  void Begin(const Run* run) override {
    Groups::Begin(run);
    run_ = run;
  }
  void Add(const PricedKernel& kernel) override {
    if constexpr (std::is_invocable_v<decltype(find), const Run&, const PricedKernel&, Groups*>) {
      if (run_ != nullptr) find(*run_, kernel, this);
    }
  }
  void End(const Run* run) override {
    if constexpr (std::is_invocable_v<decltype(find), const Run&, Groups*>) {
      if (run != nullptr) find(*run, this);
    }
  }
  void Emit(Sink* sink) const override {
    if constexpr (std::is_null_pointer_v<decltype(emit)>) {
      Groups::Emit(sink);
    } else {
      TableOf table(this->columns(), sink);
      emit(this->rows_, &table);
    }
  }

 private:
  const Run* run_ = nullptr;
};

template <typename Groups>
Groups GroupsIn(void (*find)(const Run&, Groups*));
template <typename Groups>
Groups GroupsIn(void (*add)(const Run&, const PricedKernel&, Groups*));

/// View::make of a view of groups.
template <const View& view, auto find, auto emit = nullptr>
std::unique_ptr<Partial> MakeGroups(const ViewOptions& options) {
  return std::make_unique<FoundGroups<view, decltype(GroupsIn(find)), find, emit>>(options);
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_GROUP_VIEW_H_
