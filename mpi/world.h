#ifndef OPLENS_MPI_WORLD_H_
#define OPLENS_MPI_WORLD_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::mpi {

/// The text of the MPI library for its version. May be asked before there is a World.
std::string LibraryVersion();

/// The processes that MPI started together. One object a process, for all of its life; its methods
/// are for the thread that made it. Those that say "all" must be called by all processes in the
/// same order. Who waits sleeps: more processes than cores are no harm.
///
/// MPI ends all processes where one of its calls fails.
class World {
 public:
  /// `piece_bytes`: so much at most goes through one call of MPI, whose counts are of 32 bits; any
  /// text may be longer.
  World(int* argc, char*** argv, size_t piece_bytes = size_t{1} << 30);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Lets MPI answer the others. To be called now and then by who computes for long.
  void Progress();
  /// All: returns when all have called it.
  void WaitForAll();
  /// All: the text of process 0.
  std::string Broadcast(std::string text);
  /// All: the texts of all processes, by rank.
  std::vector<std::string> AllGather(std::string_view text);
  /// All: `texts` has one for each process; answers those that the others have for this one.
  std::vector<std::string> AllToAll(const std::vector<std::string>& texts);

  /// One text from one process to another, which waits for it.
  void Send(int to, std::string_view text);
  std::string Receive(int from);

  /// Ends all processes, this one with `exit_code`.
  [[noreturn]] void Abort(int exit_code);

 private:
  int rank_ = 0;
  int size_ = 1;
  size_t piece_bytes_;
};

/// A number that all processes count up, which lives on process 0. Nobody waits for a process that
/// computes: only for process 0 to call World::Progress(), where the network needs that.
class SharedCounter {
 public:
  /// All.
  SharedCounter();
  /// All.
  ~SharedCounter();
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  /// 0 at the first call of any process, then 1, ...
  size_t Next();

 private:
  struct Window;
  std::unique_ptr<Window> window_;
};

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_WORLD_H_
