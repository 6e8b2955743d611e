#ifndef OPLENS_BASE_THREADS_H_
#define OPLENS_BASE_THREADS_H_

#include <cstddef>
#include <functional>

namespace oplens {

/// The most threads that are of use for one file.
inline constexpr int kMostFileThreads = 16;

/// How many threads this process may use for one file, from 1: those of the machine, at most
/// kMostFileThreads, unless told. Results do not depend on it.
int ThreadLimit();
/// Call before files are read. `limit` is clamped to 1 .. kMostFileThreads.
void SetThreadLimit(int limit);

/// Calls work(0) to work(count - 1), which must not throw, on up to `threads` threads, this one
/// among them. They are begun in order.
void InThreads(size_t count, size_t threads, const std::function<void(size_t)>& work);

}  // namespace oplens

#endif  // OPLENS_BASE_THREADS_H_
