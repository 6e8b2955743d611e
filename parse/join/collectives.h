#ifndef OPLENS_PARSE_JOIN_COLLECTIVES_H_
#define OPLENS_PARSE_JOIN_COLLECTIVES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/join/gpu_work.h"
#include "parse/model/op_call.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Returns the call of a collective: {'mod': 'c10d', 'op': 'all_reduce', 'args': [the whole buffer
/// as one tensor of one dimension, world_size=N]}. The whole buffer of a gather is its output, of a
/// scatter its input. Omits unknown facts; unknown names of collectives stay as recorded.
OpCall CommunicationCall(const Communication& communication, const StringPool& strings);

/// Elements of a rank's input and output of a call; negative: unknown.
struct CallElements {
  int64_t input = -1;
  int64_t output = -1;
};

/// Returns the elements by the tensors of a collective's call, each argument a tensor or a list:
/// (output, input), or only the input. Unknown if one is too large, or the call is cut.
CallElements ElementsOf(const OpCall& call);

/// Returns the number of ranks by the extents: output over input if the collective gathers
/// ("c10d::_allgather_base_"), input over output if it scatters ("reduce_scatter"). kUnknownId for
/// others, and if it is no whole number.
int64_t RanksByExtents(std::string_view collective, const CallElements& elements);

/// Returns the size of the process group with that name; kUnknownId if the trace does not list it.
int64_t SizeOfGroup(const Trace& trace, StringId name);

/// Whether an operator of this name ("symm_mem::multimem_all_reduce_") is a collective whose
/// arguments name a group, but not its size.
bool NeedsRanks(std::string_view name);

/// Returns the call of such an operator with world_size=`ranks` added; "" if it has no tensors, or
/// already has it or extents that imply it. Both texts are canonical (AppendOpCall).
std::string WithRanks(std::string_view call, int64_t ranks);

class Collectives {
 public:
  struct Call {
    StringId text = 0;  ///< Canonical (AppendOpCall).
    StringId op = 0;
    StringId mod = 0;
    /// Start of the label around the launch; kUnknownId if the kernel's own event has the facts.
    int64_t start_ns = kUnknownId;
  };

  /// Adds their texts to the trace's strings. A kernel without facts about its collective takes the
  /// library's label around its launch ("nccl:all_to_all"), if that has sizes and the number of
  /// ranks is known: by the extents of the op around the label, else by its group, else by the
  /// trace. O((R + K) log C).
  explicit Collectives(Trace* trace);

  /// Returns null if the kernel with that WorkIndex is no collective.
  const Call* Of(const Trace& trace, size_t index) const {
    const Kernel& kernel = KernelOf(trace, static_cast<WorkIndex>(index));
    ItemIndex communication = trace.DetailsOf(kernel).communication;
    if (communication >= calls_.size() && index < by_label_.size())
      communication = by_label_[index];
    return communication < calls_.size() ? &calls_[communication] : nullptr;
  }

 private:
  void Make(Trace* trace, ItemIndex communication, const Communication& facts);
  void FindLabels(Trace* trace);

  class RanksOfLabels;

  std::vector<Call> calls_;          // By index into Trace::communications.
  std::vector<ItemIndex> by_label_;  // By WorkIndex; empty if no label is used.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_COLLECTIVES_H_
