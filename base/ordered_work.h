#ifndef OPLENS_BASE_ORDERED_WORK_H_
#define OPLENS_BASE_ORDERED_WORK_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

namespace oplens {

/// Work in pieces that are made by several threads and taken in order. A piece is made at a place,
/// which later pieces use again.
struct OrderedSteps {
  /// Says which piece is made next at `place`; false: there is none. Called in the order of the
  /// pieces, by one thread at a time.
  std::function<bool(size_t place)> next;
  /// Makes it, beside other pieces.
  std::function<void(size_t place)> make;
  /// Takes it: in order, on the calling thread. False: no more are wanted; what was made of later
  /// pieces, or thrown for them, is dropped.
  std::function<bool(size_t place)> take;
};

/// Places that DoInOrder() needs: for each thread, the caller too, and two more pieces that wait.
constexpr size_t PlacesFor(size_t threads) { return threads == 0 ? 1 : threads + 3; }

/// Does all pieces, made by up to `threads` threads and by the caller whenever the piece to be
/// taken next is not ready; by the caller if `threads` is 0 or none can be started. ThreadLimit()
/// is 1 while several make pieces. What a step throws for the first piece that fails is thrown
/// after all earlier pieces were taken and all threads have ended.
void DoInOrder(size_t threads, const OrderedSteps& steps);

/// A value in cache lines of its own (two, which processors fetch together): threads that write
/// neighbours do not wait for each other.
template <typename Value>
struct alignas(128) ApartFromOthers {
  Value value;
};

/// As above with a `Piece` for each place: next(Piece*), make(Piece*), take(Piece*), of which the
/// last may return nothing: all are wanted.
template <typename Piece, typename Next, typename Make, typename Take>
void DoInOrder(size_t threads, Next next, Make make, Take take) {
  std::vector<ApartFromOthers<Piece>> pieces(PlacesFor(threads));
  DoInOrder(threads, {[&](size_t place) { return next(&pieces[place].value); },
                      [&](size_t place) { make(&pieces[place].value); },
                      [&](size_t place) {
                        if constexpr (std::is_void_v<decltype(take(&pieces[place].value))>) {
                          take(&pieces[place].value);
                          return true;
                        } else {
                          return take(&pieces[place].value);
                        }
                      }});
}

}  // namespace oplens

#endif  // OPLENS_BASE_ORDERED_WORK_H_
