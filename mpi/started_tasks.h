#ifndef OPLENS_MPI_STARTED_TASKS_H_
#define OPLENS_MPI_STARTED_TASKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::mpi {

/// Looks up an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The environment of this process.
std::optional<std::string> OwnEnvironment(const char* name);

/// The processes started together with this one, as their launcher (mpirun, mpiexec, srun) says in
/// the environment.
struct StartedTasks {
  int64_t count = 1;
  int64_t rank = 0;
  std::string variable = {};  ///< The variable with the count; "": none.
  bool by_slurm = false;      ///< The variable is Slurm's.
  bool reachable = true;      ///< The variables by which MPI finds the others are set.

  static StartedTasks Of(const Environment& environment);
};

/// The family of an MPI library, from its version text.
enum class Library : uint8_t { kOpenMpi, kMpich, kOther };
Library LibraryOf(std::string_view version);

/// Why MPI will not find the processes that were started together and what to type instead, in one
/// line; "" if no problem is known. For use before MPI is initialised.
std::string ProblemBefore(const StartedTasks& tasks, Library library);
/// The same check after initialisation, with the number of processes that MPI found.
std::string ProblemAfter(const StartedTasks& tasks, Library library, int64_t world_size);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_STARTED_TASKS_H_
