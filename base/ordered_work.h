#ifndef OPLENS_BASE_ORDERED_WORK_H_
#define OPLENS_BASE_ORDERED_WORK_H_

#include <cstddef>
#include <functional>
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
  /// Takes it: in order, on the calling thread.
  std::function<void(size_t place)> take;
};

/// Places that DoInOrder() needs.
constexpr size_t PlacesFor(size_t threads) { return threads == 0 ? 1 : 2 * threads; }

/// Does all pieces, made by up to `threads` threads beside the caller; by the caller if `threads`
/// is 0 or none can be started. ThreadLimit() is 1 in these threads. What a step throws for the
/// first piece that fails is thrown after all earlier pieces were taken and all threads have ended.
void DoInOrder(size_t threads, const OrderedSteps& steps);

/// As above with a `Piece` for each place: next(Piece*), make(Piece*), take(Piece*).
template <typename Piece, typename Next, typename Make, typename Take>
void DoInOrder(size_t threads, Next next, Make make, Take take) {
  std::vector<Piece> pieces(PlacesFor(threads));
  DoInOrder(threads, {[&](size_t place) { return next(&pieces[place]); },
                      [&](size_t place) { make(&pieces[place]); },
                      [&](size_t place) { take(&pieces[place]); }});
}

}  // namespace oplens

#endif  // OPLENS_BASE_ORDERED_WORK_H_
