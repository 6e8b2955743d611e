#ifndef OPLENS_BASE_ORDERED_TEXTS_H_
#define OPLENS_BASE_ORDERED_TEXTS_H_

#include <cstddef>
#include <functional>
#include <string>

namespace oplens {

/// Makes the texts of pieces 0 to count - 1 and takes them in this order. Up to ThreadLimit()
/// threads make them, the caller among them; each takes what it made, one at a time. `make` appends
/// to an empty text and must not change what other calls of it read. What `make` or `take` throws
/// for the first piece that fails is thrown here after all threads have ended. Memory: a text for
/// each thread.
void MakeInOrder(size_t count, const std::function<void(size_t piece, std::string* text)>& make,
                 const std::function<void(const std::string& text)>& take);

}  // namespace oplens

#endif  // OPLENS_BASE_ORDERED_TEXTS_H_
