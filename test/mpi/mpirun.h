#ifndef OPLENS_TEST_MPI_MPIRUN_H_
#define OPLENS_TEST_MPI_MPIRUN_H_

#include <string>
#include <vector>

#include "test/support/program.h"

namespace oplens::test {

/// The MPIs that this build has programs for: "openmpi", "mpich".
std::vector<std::string> MpiNames();

/// The beginning of a command line that starts `processes` processes with an MPI.
std::vector<std::string> MpiRunCommand(const std::string& mpi, int processes);

/// Runs a program of this build that is made with an MPI ("oplens-mpi"), that many times.
RunResult RunMpi(const std::string& mpi, int processes, const std::string& program,
                 const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_MPI_MPIRUN_H_
