#include "base/ordered_texts.h"

#include <algorithm>

#include "base/staged_work.h"
#include "base/threads.h"

namespace oplens {
namespace {

struct Piece {
  size_t number = 0;
  std::string text;
};

}  // namespace

void MakeInOrder(size_t count, const std::function<void(size_t piece, std::string* text)>& make,
                 const std::function<void(const std::string& text)>& take) {
  const size_t threads = std::min(count, static_cast<size_t>(ThreadLimit()));
  size_t next = 0;
  DoInOrder<Piece>(
      threads < 2 ? 0 : threads - 1,
      [&](Piece* piece) {
        piece->number = next++;
        return piece->number < count;
      },
      [&](Piece* piece) {
        piece->text.clear();
        make(piece->number, &piece->text);
      },
      [&](Piece* piece) { take(piece->text); });
}

}  // namespace oplens
