#ifndef OPLENS_PROF_VIEWS_CALLS_CALL_GROUPS_H_
#define OPLENS_PROF_VIEWS_CALLS_CALL_GROUPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prof/table/field.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {

class Run;

/// What rows of calls may be split by, beside the name.
enum class OperatorKey : uint8_t { kShape, kLayer, kStack, kPhase, kStep, kRank };

/// The texts of such a row: the name at 0, then those of keys by TextPlaceOf.
using OperatorTexts = std::array<std::string_view, 7>;
constexpr size_t TextPlaceOf(OperatorKey key) { return static_cast<size_t>(key) + 1; }

inline constexpr TextColumn<TextPlaceOf(OperatorKey::kLayer), true> kOperatorLayerColumn = {
    "layer", "Layer", Field::kShared,
    "layers around the call, outermost first; in the backward pass those of the forward op"};
inline constexpr TextColumn<TextPlaceOf(OperatorKey::kStack), true> kOperatorStackColumn = {
    "stack", "Stack", Field::kShared, "call stack, outermost frame first"};
inline constexpr TextColumn<TextPlaceOf(OperatorKey::kRank), true> kOperatorRankColumn = {
    "rank", "Rank", 6, "rank of the process"};
inline constexpr Field kOperatorStepField = {
    "step",    "Step", "", FieldType::kInteger, 6, "number of the step in which the call began",
    Fold::kKey};
/// The calls of a rank that are alike in what they are called and split by.
class CallGroups {
 public:
  /// `places`: of `run`. It must outlive this object.
  CallGroups(const Run& run, std::span<const OperatorKey> by, CallPlaces* places);

  size_t size() const { return group_count_; }
  /// Of a call by its place in CallTree::all().
  uint32_t Of(size_t call) const { return groups_[call]; }
  std::span<const uint32_t> all() const { return groups_; }
  /// The texts of a group: the name and those of the keys, those of step and rank left out.
  std::vector<std::string_view> TextsOf(uint32_t group) const;
  /// How many texts that are.
  size_t text_count() const { return columns_.size(); }

 private:
  const CallPlaces& places_;
  std::vector<uint32_t> groups_;  // By call.
  size_t group_count_ = 0;
  std::vector<std::vector<uint32_t>> columns_;  // Of the texts, by group: numbers of texts.
};

/// By call: whether no call of its group is around it. `groups`: by call, each less than `count`.
std::vector<bool> OutermostCalls(const Run& run, std::span<const uint32_t> groups, size_t count);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_CALL_GROUPS_H_
