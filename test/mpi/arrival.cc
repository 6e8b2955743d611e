// Preloaded into oplens-mpi: a process that comes to where all wait for each other makes the file
// OPLENS_TEST_ARRIVAL.ID, with its process id.

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (const char* const path = std::getenv("OPLENS_TEST_ARRIVAL")) {
    const std::ofstream file(path + ("." + std::to_string(::getpid())));
  }
  return PMPI_Init_thread(argc, argv, required, provided);
}
