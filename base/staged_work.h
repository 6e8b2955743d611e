#ifndef OPLENS_BASE_STAGED_WORK_H_
#define OPLENS_BASE_STAGED_WORK_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include "base/team.h"

namespace oplens {

/// How many items a thread carries at most: while it waits for the turn of one, it begins another.
inline constexpr size_t kItemsOfThread = 2;

/// Items that go through stages. One thread carries an item through all of them, at a place that
/// later items use again, so that what an item holds stays in the caches of one core.
struct StagedWork {
  /// Finds the next item, for `place`: in order, one at a time. False: there is none.
  std::function<bool(size_t place)> begin;
  /// Makes it, beside other items; empty: nothing.
  std::function<void(size_t place)> make = {};
  size_t stages = 1;
  /// A stage, from 0, of an item. Each stage does items in their order, one at a time. False: no
  /// later item is wanted; what was made of them, or thrown for them, is dropped.
  std::function<bool(size_t place, size_t stage)> go_on;
};

/// Carries all items, one for each of `places` at a time, by the team and the caller, who share the
/// places; ThreadLimit() is 1 meanwhile if there are several. What is thrown for the first item
/// that fails is thrown after all earlier items went through all stages and no thread is in a
/// stage.
void DoInStages(Team* team, size_t places, const StagedWork& work);

/// A value in cache lines of its own (two, which processors fetch together): threads that write
/// neighbours do not wait for each other.
template <typename Value>
struct alignas(128) ApartFromOthers {
  Value value;
};

/// Items of one stage, by up to `threads` threads and the caller, with a `Piece` for each:
/// next(Piece*), make(Piece*), take(Piece*), of which the last may return nothing: all are wanted.
template <typename Piece, typename Next, typename Make, typename Take>
void DoInOrder(size_t threads, Next next, Make make, Take take) {
  std::vector<ApartFromOthers<Piece>> pieces((threads + 1) * kItemsOfThread);
  Team team(threads);
  DoInStages(&team, pieces.size(),
             {.begin = [&](size_t place) { return next(&pieces[place].value); },
              .make = [&](size_t place) { make(&pieces[place].value); },
              .go_on =
                  [&](size_t place, size_t) {
                    if constexpr (std::is_void_v<decltype(take(&pieces[place].value))>) {
                      take(&pieces[place].value);
                      return true;
                    } else {
                      return take(&pieces[place].value);
                    }
                  }});
}

}  // namespace oplens

#endif  // OPLENS_BASE_STAGED_WORK_H_
