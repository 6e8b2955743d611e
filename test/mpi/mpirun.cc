#include "test/mpi/mpirun.h"

#include <fmt/format.h>

#include <sstream>

#include "test/support/test_files.h"

namespace oplens::test {

std::vector<std::string> MpiNames() {
  std::vector<std::string> names;
  std::istringstream list(OPLENS_MPI_NAMES);
  for (std::string name; list >> name;) names.push_back(name);
  return names;
}

std::vector<std::string> MpiRunCommand(const std::string& mpi, int processes) {
  std::vector<std::string> command = {"/usr/bin/mpirun." + mpi, "-n", std::to_string(processes)};
  if (mpi == "openmpi") {
    command.insert(command.end(), {"--allow-run-as-root", "--oversubscribe"});
  }
  return command;
}

RunResult RunMpi(const std::string& mpi, int processes, const std::string& program,
                 const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> command = MpiRunCommand(mpi, processes);
  command.push_back(Program(program + "." + mpi));
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command, options);
}

}  // namespace oplens::test
