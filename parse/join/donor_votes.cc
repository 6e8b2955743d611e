#include "parse/join/donor_votes.h"

#include <algorithm>

#include "parse/join/align.h"
#include "parse/join/joined.h"

namespace oplens::parse {

int64_t BeginOf(const Lane& lane, size_t i) {
  const Kernel& kernel = lane.At(i);
  if (kernel.timed() || kernel.launch == kNoLaunch) return kernel.start_ns;
  return lane.joined().trace().launches[kernel.launch].start_ns;
}

void DonorVotes::Add(const Lane& source, size_t first, const std::vector<uint32_t>& partners) {
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] == kUnaligned) continue;
    const size_t member = first + partners[i];
    if (HasNoRecordedOp(source.At(member))) continue;
    const KnownOp& told = source.KnownOpAt(member);
    Vote& vote = votes_[i];
    if (vote.count++ == 0) {
      vote.told = told;
      vote.donor = source.KernelOf(member);
      vote.donor_begin_ns = BeginOf(source, first);
      continue;
    }
    vote.op_differs |= vote.told.op != told.op;
    vote.layer_differs |= vote.told.layer != told.layer;
  }
}

void DonorVotes::Take(const Lane& target, size_t begin, Evidence evidence, Confidence confidence,
                      uint32_t instance, std::vector<Inferred>* found) const {
  for (size_t i = 0; i < votes_.size(); ++i) {
    const Vote& vote = votes_[i];
    if (vote.count == 0 || vote.op_differs || vote.told.op == 0) continue;
    if (!HasNoRecordedOp(target.At(begin + i))) continue;
    const auto shift_ns = static_cast<int64_t>(static_cast<uint64_t>(target.StartOf(begin)) -
                                               static_cast<uint64_t>(vote.donor_begin_ns));
    found->push_back({target.KernelOf(begin + i), vote.donor, instance, shift_ns, evidence,
                      confidence, vote.told.layer != 0 && !vote.layer_differs});
  }
}

size_t CountAligned(const std::vector<uint32_t>& partners) {
  return partners.size() -
         static_cast<size_t>(std::count(partners.begin(), partners.end(), kUnaligned));
}

}  // namespace oplens::parse
