#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_RANKS_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_RANKS_H_

#include <vector>

#include "parse/source/profile_list.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// The processes of an Nsight Systems export that ran kernels, where two or more of them are ranks
/// of a distributed run; else none. A rank is a process whose thread Nsight Systems names after its
/// rank in MPI; where there are no two such, one that runs kernels of NCCL. Those have no number in
/// the file: they are numbered by their GPU where each has one of its own, else by process id.
/// Processes without kernels (a launcher, loaders of data) are none. By rank; what is none is last.
std::vector<FilePart> NsysRanks(SqliteDatabase* database);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_RANKS_H_
