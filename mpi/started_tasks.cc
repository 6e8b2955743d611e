#include "mpi/started_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/parse_number.h"

namespace oplens::mpi {
namespace {

/// A launcher and its environment variables.
struct Starter {
  const char* count;
  const char* rank;
  bool slurm;
};

// Slurm's are last: mpirun may run inside an allocation. A job without srun sets only the count.
constexpr Starter kStarters[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", false},
    {"PMI_SIZE", "PMI_RANK", false},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", true},
    {"SLURM_NTASKS", "SLURM_PROCID", true},
};

// By these variables an MPI library finds the other processes.
constexpr const char* kContacts[] = {"PMIX_RANK", "PMI_RANK", "PMI_FD", "OMPI_COMM_WORLD_RANK"};

std::optional<int64_t> NumberIn(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  int64_t number = 0;
  if (!ParseNumber(*text, &number) || number < 0) return std::nullopt;
  return number;
}

std::string HowToStart(const StartedTasks& tasks, Library library) {
  if (!tasks.by_slurm) {
    return library == Library::kOther
               ? "start it with the mpirun of the MPI that it was built with"
               : fmt::format("start it with the mpirun of {}, which it was built with",
                             library == Library::kOpenMpi ? "Open MPI" : "MPICH");
  }
  switch (library) {
    case Library::kOpenMpi:
      return "start it with srun --mpi=pmix";
    case Library::kMpich:
      return "start it with srun --mpi=pmi2";
    case Library::kOther:
      break;
  }
  return "start it with srun --mpi=pmix, or --mpi=pmi2 (srun --mpi=list says what there is)";
}

std::string Problem(const StartedTasks& tasks, Library library) {
  return fmt::format("MPI sees one process, but {} says {}; {}", tasks.variable, tasks.count,
                     HowToStart(tasks, library));
}

}  // namespace

std::optional<std::string> OwnEnvironment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

StartedTasks StartedTasks::Of(const Environment& environment) {
  StartedTasks tasks;
  for (const Starter& starter : kStarters) {
    const std::optional<int64_t> count = NumberIn(environment, starter.count);
    if (!count || *count < 1) continue;
    tasks.count = *count;
    tasks.rank = NumberIn(environment, starter.rank).value_or(0);
    tasks.variable = starter.count;
    tasks.by_slurm = starter.slurm;
    break;
  }
  tasks.reachable = std::any_of(std::begin(kContacts), std::end(kContacts),
                                [&](const char* name) { return environment(name).has_value(); });
  return tasks;
}

Library LibraryOf(std::string_view version) {
  if (version.find("Open MPI") != std::string_view::npos) return Library::kOpenMpi;
  if (version.find("MPICH") != std::string_view::npos) return Library::kMpich;
  return Library::kOther;
}

std::string ProblemBefore(const StartedTasks& tasks, Library library) {
  return tasks.count > 1 && !tasks.reachable ? Problem(tasks, library) : std::string();
}

std::string ProblemAfter(const StartedTasks& tasks, Library library, int64_t world_size) {
  return tasks.count > 1 && world_size == 1 ? Problem(tasks, library) : std::string();
}

}  // namespace oplens::mpi
