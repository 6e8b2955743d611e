#include "mpi/started_tasks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace oplens::mpi::started_tasks_test {
namespace {

using Variables = std::map<std::string, std::string>;

StartedTasks TasksOf(const Variables& variables) {
  return StartedTasks::Of([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(StartedTasksTest, SaysWhoWasStarted) {
  EXPECT_EQ(TasksOf({}).count, 1);
  EXPECT_EQ(TasksOf({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "3"}}).rank, 3);
  EXPECT_EQ(TasksOf({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}, {"SLURM_NTASKS", "9"}}).count, 4);
  EXPECT_EQ(TasksOf({{"SLURM_NTASKS", "256"}, {"SLURM_PROCID", "7"}}).rank, 7);
  // What is no number says nothing.
  for (const char* text : {"", "-2", "0", "8x", "99999999999999999999"}) {
    EXPECT_EQ(TasksOf({{"SLURM_NTASKS", text}}).count, 1) << text;
  }
}

TEST(StartedTasksTest, KnowsTheLibrary) {
  EXPECT_EQ(LibraryOf("Open MPI v4.1.4, package: Debian"), Library::kOpenMpi);
  EXPECT_EQ(LibraryOf("MPICH Version:\t4.0.2"), Library::kMpich);
  EXPECT_EQ(LibraryOf("Intel(R) MPI Library 2021"), Library::kOther);
}

TEST(StartedTasksTest, OneProcessOfManyIsRefused) {
  const Variables slurm = {{"SLURM_STEP_NUM_TASKS", "256"}, {"SLURM_PROCID", "0"}};
  EXPECT_EQ(ProblemBefore(TasksOf(slurm), Library::kOpenMpi),
            "MPI sees one process, but SLURM_STEP_NUM_TASKS says 256; start it with srun "
            "--mpi=pmix");
  EXPECT_EQ(ProblemAfter(TasksOf({{"SLURM_NTASKS", "256"}}), Library::kMpich, 1),
            "MPI sees one process, but SLURM_NTASKS says 256; start it with srun --mpi=pmi2");
  EXPECT_EQ(ProblemAfter(TasksOf({{"PMI_SIZE", "4"}}), Library::kOpenMpi, 1),
            "MPI sees one process, but PMI_SIZE says 4; start it with the mpirun of Open MPI, "
            "which it was built with");
}

TEST(StartedTasksTest, WhatMayWorkIsTried) {
  Variables pmix = {{"SLURM_STEP_NUM_TASKS", "256"}, {"PMIX_RANK", "0"}};
  EXPECT_EQ(ProblemBefore(TasksOf(pmix), Library::kOpenMpi), "");
  EXPECT_EQ(ProblemAfter(TasksOf(pmix), Library::kOpenMpi, 256), "");
  EXPECT_EQ(ProblemBefore(TasksOf({}), Library::kMpich), "");
  EXPECT_EQ(ProblemAfter(TasksOf({{"SLURM_NTASKS", "1"}}), Library::kMpich, 1), "");
}

}  // namespace
}  // namespace oplens::mpi::started_tasks_test
