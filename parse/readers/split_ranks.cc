#include "parse/readers/split_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "parse/model/reason.h"
#include "parse/readers/nsys/nsys_context.h"
#include "parse/readers/nsys/nsys_reader.h"
#include "parse/readers/nsys/nsys_schema.h"
#include "parse/readers/nsys/nsys_target.h"
#include "parse/source/profile_file.h"
#include "parse/source/profile_list.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {
namespace {

/// What shows whether a process is a rank.
struct Process {
  std::set<int64_t> mpi_ranks;
  std::set<int64_t> collective_devices;
};

using Processes = std::map<int64_t, Process>;  // By nsys::ProcessKey.

/// Finds the processes that ran kernels.
Processes FindProcesses(NsysContext* context) {
  constexpr std::string_view kColumns[] = {"globalPid"};
  Processes processes;
  int64_t last = -1;
  context->ForEachRow(nsys::kKernelTable, kColumns, [&](int64_t, const Cell* row) {
    if (!row[0].is_int() || nsys::ProcessKey(row[0].integer()) == last) return;
    last = nsys::ProcessKey(row[0].integer());
    processes.try_emplace(last);
  });
  return processes;
}

void TakeMpiRank(int64_t global_tid, std::string_view name, Processes* processes) {
  const auto process = processes->find(nsys::ProcessKey(global_tid));
  if (process == processes->end()) return;
  if (const int64_t rank = MpiRankOf(name); rank >= 0) process->second.mpi_ranks.insert(rank);
}

/// Searches thread names from NVTX and the operating system.
void FindMpiRanks(NsysContext* context, Processes* processes) {
  const auto take = [&](const Cell& global_tid, const Cell& name) {
    if (!global_tid.is_int()) return;
    TakeMpiRank(global_tid.integer(), context->trace.strings.View(context->TextOf(name)),
                processes);
  };
  constexpr std::string_view kThreadTextColumns[] = {"eventType", "globalTid", "text", "textId"};
  context->ForEachRow(nsys::kNvtxTable, kThreadTextColumns, [&](int64_t, const Cell* row) {
    if (!row[0].is_int() || row[0].integer() != nsys::kNvtxThread) return;
    take(row[1], row[2].type() == Cell::Type::kNull ? row[3] : row[2]);
  });
  constexpr std::string_view kNameColumns[] = {"globalTid", "nameId"};
  context->ForEachRow(nsys::kThreadNameTable, kNameColumns,
                      [&](int64_t, const Cell* row) { take(row[0], row[1]); });
}

void FindCollectives(NsysContext* context, Processes* processes) {
  constexpr std::string_view kColumns[] = {"globalPid", "deviceId", "shortName", "demangledName"};
  context->ForEachRow(nsys::kKernelTable, kColumns, [&](int64_t, const Cell* row) {
    if (!row[0].is_int() || !row[1].is_int()) return;
    StringId name = context->TextOf(row[2]);
    if (name == 0) name = context->TextOf(row[3]);
    if (!context->trace.strings.View(name).starts_with("nccl")) return;
    (*processes)[nsys::ProcessKey(row[0].integer())].collective_devices.insert(row[1].integer());
  });
}

std::vector<FilePart> PartsOfMpi(const Processes& processes) {
  std::vector<FilePart> parts;
  int64_t ranks = 0;
  for (const auto& [key, process] : processes) {
    const bool is_rank = process.mpi_ranks.size() == 1;
    parts.push_back({key, is_rank ? *process.mpi_ranks.begin() : -1, 0});
    ranks += is_rank ? 1 : 0;
  }
  return ranks < 2 ? std::vector<FilePart>() : parts;
}

std::vector<FilePart> PartsOfCollectives(const Processes& processes) {
  std::vector<std::pair<int64_t, int64_t>> ranks;  // GPU (0 if they do not differ) and process.
  std::set<int64_t> devices;
  bool one_each = true;
  for (const auto& [key, process] : processes) {
    const std::set<int64_t>& own = process.collective_devices;
    if (own.empty()) continue;
    one_each = one_each && own.size() == 1 && devices.insert(*own.begin()).second;
    ranks.emplace_back(*own.begin(), key);
  }
  if (ranks.size() < 2) return {};
  if (!one_each) {
    for (auto& [device, key] : ranks) device = 0;
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<FilePart> parts;
  for (const auto& [device, key] : ranks) {
    parts.push_back({key, static_cast<int64_t>(parts.size()), 0});
  }
  parts.front().guessed = static_cast<int64_t>(ranks.size());
  for (const auto& [key, process] : processes) {
    if (process.collective_devices.empty()) parts.push_back({key, -1, 0});
  }
  return parts;
}

/// Non-ranks come last.
bool GoesBefore(const FilePart& a, const FilePart& b) {
  const auto order = [](const FilePart& part) {
    return std::tuple(part.rank < 0, part.rank, part.process_key);
  };
  return order(a) < order(b);
}

/// Returns the processes of an Nsight Systems export that ran kernels, if at least two of them are
/// ranks of a distributed run; else none. A rank is a process with a thread that Nsight Systems
/// named after its MPI rank; if there are not two such, a process that ran NCCL kernels. The latter
/// have no number in the file: they are numbered by GPU if each has its own, else by process id.
/// Ordered by rank, non-ranks last.
std::vector<FilePart> NsysRanks(SqliteDatabase* database) {
  Diagnostics unsaid;
  NsysContext context(database, std::nullopt, TraceNeeds(), &unsaid);
  Processes processes = FindProcesses(&context);
  if (processes.size() < 2) return {};
  context.ReadStrings();
  FindMpiRanks(&context, &processes);
  std::vector<FilePart> parts = PartsOfMpi(processes);
  if (parts.empty()) {
    FindCollectives(&context, &processes);
    parts = PartsOfCollectives(processes);
  }
  std::sort(parts.begin(), parts.end(), GoesBefore);
  return parts;
}

std::vector<FilePart> SplitRanksPartsOf(const ProfileInput& input) {
  if (input.piped != nullptr || IsPipe(input.path)) return {};
  try {
    ProfileFile file(input);
    if (!kNsysReader.recognises(&file)) return {};
    return NsysRanks(file.database());
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<ProfileInput> SplitRanks(std::vector<ProfileInput> inputs) {
  std::vector<ProfileInput> split;
  int64_t counted = 0;
  for (ProfileInput& input : inputs) {
    std::vector<FilePart> parts = SplitRanksPartsOf(input);
    if (parts.empty()) {
      split.push_back(std::move(input));
      continue;
    }
    const int64_t guessed = parts.front().guessed;
    for (FilePart& part : parts) {
      if (guessed > 0 && part.rank >= 0) part.rank += counted;
      ProfileInput& rank = split.emplace_back(input);
      rank.part = part;
      if (part.rank < 0) {
        rank.name += fmt::format(" (process {})", nsys::ProcessIdOf(part.process_key));
      }
    }
    counted += guessed;
  }
  return split;
}

}  // namespace oplens::parse
