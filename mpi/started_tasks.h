#ifndef OPLENS_MPI_STARTED_TASKS_H_
#define OPLENS_MPI_STARTED_TASKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::mpi {

/// What a variable of the environment is set to; nullopt: it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// That of this process.
std::optional<std::string> OwnEnvironment(const char* name);

/// The processes that were started together with this one, as far as those who start processes say
/// so in the environment (mpirun, mpiexec, srun).
struct StartedTasks {
  int64_t count = 1;
  int64_t rank = 0;           ///< Of this process.
  std::string variable = {};  ///< That says the count; "": none does.
  bool by_slurm = false;      ///< It is Slurm's.
  bool reachable = true;      ///< There is what MPI finds the others by.

  static StartedTasks Of(const Environment& environment);
};

/// The family of an MPI library by the text that it has for its version.
enum class Library : uint8_t { kOpenMpi, kMpich, kOther };
Library LibraryOf(std::string_view version);

/// Why MPI would not find the processes that were started together, in one line with what to type
/// instead; "" where it may. To be asked before MPI is begun.
std::string ProblemBefore(const StartedTasks& tasks, Library library);
/// The same once MPI says how many processes it knows.
std::string ProblemAfter(const StartedTasks& tasks, Library library, int64_t world_size);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_STARTED_TASKS_H_
