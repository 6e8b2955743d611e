#ifndef OPLENS_MPI_WORLD_H_
#define OPLENS_MPI_WORLD_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::mpi {

/// The version text of the MPI library. May be called before a World exists.
std::string LibraryVersion();

/// The processes that MPI started together. Create one object per process, for its lifetime, and
/// use it only on its thread. Methods marked "Collective" must be called by all processes in the
/// same order. Waiting sleeps, so more processes than cores are fine.
///
/// If an MPI call fails, MPI ends all processes.
class World {
 public:
  /// `piece_bytes`: the most per MPI call, whose counts are 32-bit; texts may be longer.
  World(int* argc, char*** argv, size_t piece_bytes = size_t{1} << 30);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Lets MPI serve other processes. Call it regularly during long computations.
  void Progress();
  /// Collective. Returns once all processes have called it.
  void WaitForAll();
  /// Collective. Returns the text of process 0.
  std::string Broadcast(std::string text);
  /// Collective. Returns the texts of all processes, by rank.
  std::vector<std::string> AllGather(std::string_view text);
  /// Collective. Sends texts[i] to process i; returns the texts for this process, by rank.
  std::vector<std::string> AllToAll(const std::vector<std::string>& texts);

  /// Sends a text to process `to`, which must call Receive.
  void Send(int to, std::string_view text);
  std::string Receive(int from);

  /// Ends all processes; this one with `exit_code`.
  [[noreturn]] void Abort(int exit_code);

 private:
  int rank_ = 0;
  int size_ = 1;
  size_t piece_bytes_;
};

/// A counter shared by all processes, held by process 0. It never waits for a process that
/// computes, except that some networks need process 0 to call World::Progress().
class SharedCounter {
 public:
  /// Collective.
  SharedCounter();
  /// Collective.
  ~SharedCounter();
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  /// Returns 0 on the first call of any process, then 1, ...
  size_t Next();

 private:
  struct Window;
  std::unique_ptr<Window> window_;
};

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_WORLD_H_
