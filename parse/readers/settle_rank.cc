#include "parse/readers/settle_rank.h"

#include <fmt/format.h>

#include <string_view>

#include "parse/model/run_place.h"

namespace oplens::parse {
namespace {

/// Who names a rank, the one that counts before others.
struct Claim {
  std::string_view source;
  int64_t rank = kUnknownId;
};

void TakeUnknown(int64_t from, int64_t* to) {
  if (*to == kUnknownId) *to = from;
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
  // What belongs to another rank's place is of no use.
  if (trace->environment.rank != trace->rank) return;
  TakeUnknown(trace->environment.world_size, &trace->world_size);
  TakeUnknown(trace->environment.local_rank, &trace->local_rank);
  TakeUnknown(trace->environment.node, &trace->node);
}

}  // namespace oplens::parse
