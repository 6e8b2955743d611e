#include "parse/readers/open_trace.h"

#include <fmt/format.h>

#include <new>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/shortage.h"
#include "parse/model/run_place.h"
#include "parse/provenance/provenance.h"
#include "parse/readers/common/trace_reader.h"
#include "parse/readers/kineto/kineto_reader.h"
#include "parse/readers/nsys/nsys_reader.h"
#include "parse/readers/nvprof/nvprof_reader.h"

namespace oplens::parse {
namespace {

/// A source of a rank, in order of precedence.
struct Claim {
  std::string_view source;
  int64_t rank = kUnknownId;
};

void TakeUnknown(int64_t from, int64_t* to) {
  if (*to == kUnknownId) *to = from;
}

// In order: the first that recognises a file reads it.
constexpr const TraceReader* kReaders[] = {
    &kNvprofReader,
    &kNsysReader,
    &kKinetoReader,
};

/// Known databases that are rejected, identified by a table that only they have.
struct KnownForeign {
  std::string_view table;
  std::string_view problem;
  std::string_view advice;
};

constexpr KnownForeign kKnownForeign[] = {
    {"op_nodes", "is a result database of DLProf, not a profile",
     "give the profile that DLProf was run on"},
};

std::string ListSome(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  if (names.empty()) return "it has no tables";
  std::string text = "its tables are ";
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMost ? text + ", ..." : text;
}

/// For databases; readers of JSON count trailing bytes themselves.
void CountTrailing(ProfileFile* file, Diagnostics* diagnostics) {
  const SqliteDatabase* database = file->database();
  if (database == nullptr || database->trailing_bytes() == 0) return;
  diagnostics->CountFile(Reason::kTrailingData,
                         TrailingSentence(file->path(), database->trailing_bytes()));
}

void NoteGuess(const std::string& path, const FilePart& part, Diagnostics* diagnostics) {
  if (part.guessed == 0) return;
  diagnostics->Note(
      fmt::format("{}: holds {} processes with kernels of NCCL and does not say their ranks: they "
                  "are numbered by GPU, or else by process id, from {} on",
                  path, part.guessed, part.rank));
}

Trace ReadTrace(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  const std::string& path = file->path();
  for (const TraceReader* reader : kReaders) {
    if (!reader->recognises(file)) continue;
    Trace trace = reader->read(file, needs, diagnostics);
    CountTrailing(file, diagnostics);
    return trace;
  }
  if (file->content() == ProfileFile::Content::kJson) {
    throw Error(path, "is JSON, but no trace: it has no traceEvents",
                "give the file that torch.profiler's export_chrome_trace wrote");
  }
  const SqliteDatabase& database = *file->database();
  for (const KnownForeign& foreign : kKnownForeign) {
    if (database.HasTable(foreign.table)) throw Error(path, foreign.problem, foreign.advice);
  }
  throw Error(path,
              fmt::format("is no profile of nvprof or Nsight Systems: it has neither table "
                          "StringTable nor StringIds ({})",
                          ListSome(database.table_names())),
              "give the file that nvprof -o or nsys export --type sqlite wrote");
}

}  // namespace

void SettleRank(const std::string& path, Trace* trace, Diagnostics* diagnostics) {
  static_assert(RunPlace().rank == kUnknownId);
  const Claim claims[] = {{"its metadata", trace->rank},
                          {"its environment", trace->environment.rank},
                          {"the name of the file", RankOfPath(path)}};
  const Claim* taken = nullptr;
  for (const Claim& claim : claims) {
    if (claim.rank == kUnknownId) continue;
    if (taken == nullptr) {
      taken = &claim;
    } else if (claim.rank != taken->rank) {
      diagnostics->Note(fmt::format("{}: is of rank {} as {} says, though {} says {}", path,
                                    taken->rank, taken->source, claim.source, claim.rank));
    }
  }
  if (taken != nullptr) trace->rank = taken->rank;
  // The place of another rank does not apply.
  if (trace->environment.rank != trace->rank) return;
  TakeUnknown(trace->environment.world_size, &trace->world_size);
  TakeUnknown(trace->environment.local_rank, &trace->local_rank);
  TakeUnknown(trace->environment.node, &trace->node);
}

Trace OpenTrace(const std::string& path, TraceNeeds needs, Diagnostics* diagnostics) {
  ProfileFile file(path);
  return OpenTrace(&file, needs, diagnostics);
}

Trace OpenTrace(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  try {
    return ReadTrace(file, needs, diagnostics);
  } catch (const std::bad_alloc&) {
    // Its partial trace is freed by now.
    throw NoMemory(file->path());
  }
}

std::string NameOfRank(int64_t number, const std::string& name, size_t input_count,
                       TakenRanks* taken) {
  if (number == kUnknownId) return input_count > 1 ? name : std::string();
  const bool first = taken == nullptr || taken->insert(number).second;
  return first ? fmt::format("{}", number) : fmt::format("{} ({})", number, name);
}

void NameRank(const ProfileInput& input, size_t input_count, Trace* trace, TakenRanks* taken) {
  trace->rank_name = trace->strings.Intern(NameOfRank(trace->rank, input.name, input_count, taken));
}

Trace ReadInput(ProfileFile* file, TraceNeeds needs, Diagnostics* diagnostics) {
  Trace trace = OpenTrace(file, needs, diagnostics);
  if (file->part()) {
    NoteGuess(file->path(), *file->part(), diagnostics);
  } else {
    SettleRank(file->path(), &trace, diagnostics);
  }
  AddProvenance(file->path(), &trace, diagnostics);
  return trace;
}

Trace OpenInput(const ProfileInput& input, ProfileFile* file, size_t input_count, TraceNeeds needs,
                Diagnostics* diagnostics, TakenRanks* taken) {
  Trace trace = ReadInput(file, needs, diagnostics);
  NameRank(input, input_count, &trace, taken);
  return trace;
}

}  // namespace oplens::parse
