#ifndef OPLENS_PROF_VIEWS_COMMON_VIEW_NOTES_H_
#define OPLENS_PROF_VIEWS_COMMON_VIEW_NOTES_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "parse/model/family.h"

namespace oplens::prof {

class Run;

/// What views of the device's work say when an input has nothing for them: it holds records only,
/// or no work of a device, and what records that.
class ViewNotes {
 public:
  /// `view`: a literal.
  explicit ViewNotes(std::string_view view) : view_(view) {}

  void Begin(const Run* run);
  void Merge(const ViewNotes& other) { MergeMembers(this, other); }
  std::vector<std::string> Sentences() const;

 private:
  std::string_view view_;
  Any records_;
  Any nothing_selected_;
  std::array<Any, kFamilyCount> idle_;  // Families of profiles without work of a device.

 public:
  static constexpr std::tuple kMembers{&ViewNotes::records_, &ViewNotes::nothing_selected_,
                                       &ViewNotes::idle_};
};

/// The same of views of calls of operators.
class CallNotes {
 public:
  /// `view`: a literal.
  explicit CallNotes(std::string_view view) : view_(view) {}

  void Begin(const Run* run);
  std::vector<std::string> Sentences() const;

 private:
  std::string_view view_;
  Count ranks_without_trace_;
  std::map<Family, int64_t> ranks_without_calls_;

 public:
  static constexpr std::tuple kMembers{&CallNotes::ranks_without_trace_,
                                       &CallNotes::ranks_without_calls_};
};

/// Sentences of a view's own, each once.
class TextNotes {
 public:
  explicit TextNotes(std::string_view /*view*/) {}

  void Begin(const Run* /*run*/) {}
  void Add(std::string sentence) { sentences_.insert(std::move(sentence)); }
  std::vector<std::string> Sentences() const { return {sentences_.begin(), sentences_.end()}; }

 private:
  std::set<std::string> sentences_;

 public:
  static constexpr std::tuple kMembers{&TextNotes::sentences_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_VIEW_NOTES_H_
