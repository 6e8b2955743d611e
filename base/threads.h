#ifndef OPLENS_BASE_THREADS_H_
#define OPLENS_BASE_THREADS_H_

namespace oplens {

/// The most threads that are of use for one file.
inline constexpr int kMostFileThreads = 16;

/// How many threads this process may use for one file, from 1: those of the machine, at most
/// kMostFileThreads, unless told. Results do not depend on it.
int ThreadLimit();
/// Call before files are read. `limit` is clamped to 1 .. kMostFileThreads.
void SetThreadLimit(int limit);

/// While it lives, its thread is one of several that share work: ThreadLimit() is 1 there.
class SharedThread {
 public:
  SharedThread();
  ~SharedThread();
  SharedThread(const SharedThread&) = delete;
  SharedThread& operator=(const SharedThread&) = delete;

 private:
  bool before_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_THREADS_H_
