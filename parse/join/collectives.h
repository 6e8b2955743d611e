#ifndef OPLENS_PARSE_JOIN_COLLECTIVES_H_
#define OPLENS_PARSE_JOIN_COLLECTIVES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The call that a collective is: {'mod': 'c10d', 'op': 'all_reduce', 'args': [the whole buffer as
/// one tensor of one dimension, world_size=N]}. The whole buffer of a gather is its output, of a
/// scatter its input. What is not known is left out; the name of a collective that is none of
/// these stays as recorded.
OpCall CommunicationCall(const Communication& communication, const StringPool& strings);

/// Elements of what a rank puts into a call and gets out of it; negative: not known.
struct CallElements {
  int64_t input = -1;
  int64_t output = -1;
};

/// By the tensors of the call of a collective, each argument, tensor or list of them: (output,
/// input), or the input alone. Not known where one is too large, or the call is cut.
CallElements ElementsOf(const OpCall& call);

/// How many ranks the extents tell: of a collective that gathers ("c10d::_allgather_base_") output
/// over input, of one that scatters ("reduce_scatter") input over output. kUnknownId where they
/// tell nothing: of others, and where the one is no multiple of the other.
int64_t RanksByExtents(std::string_view collective, const CallElements& elements);

/// The size of the process group of a name, as the trace lists it; kUnknownId where it does not.
int64_t SizeOfGroup(const Trace& trace, StringId name);

/// Whether an operator of this name ("symm_mem::multimem_all_reduce_") is a collective whose
/// arguments name a group of ranks, but not how many there are.
bool LacksRanks(std::string_view name);

/// The text of the call of such an operator with world_size=`ranks` added; "" where it has no
/// tensors, has it already, or has extents that tell it. Both are canonical (AppendOpCall).
std::string WithRanks(std::string_view call, int64_t ranks);

/// The calls of the collectives that kernels of a trace are.
class Collectives {
 public:
  struct Call {
    StringId text = 0;  ///< Canonical (AppendOpCall).
    StringId op = 0;
    StringId mod = 0;
    /// Of a label that encloses the launch: when it began; kUnknownId of one that the kernel's own
    /// event tells.
    int64_t start_ns = kUnknownId;
  };

  /// Adds their texts to the trace's strings. A kernel that tells nothing of its collective is that
  /// of the library's label around its launch ("nccl:all_to_all"), where that has sizes and it is
  /// known how many ranks there are: by the extents of the op around the label, else by its group,
  /// else by the trace. O((R + K) log C).
  explicit Collectives(Trace* trace);

  /// Null where the kernel is none. `index` is that of the kernel.
  const Call* Of(const Trace& trace, size_t index) const {
    ItemIndex communication = trace.DetailsOf(trace.kernels[index]).communication;
    if (communication >= calls_.size() && index < by_label_.size())
      communication = by_label_[index];
    return communication < calls_.size() ? &calls_[communication] : nullptr;
  }

 private:
  void Make(Trace* trace, ItemIndex communication, const Communication& facts);
  void FindLabels(Trace* trace);

  class RanksOfLabels;

  std::vector<Call> calls_;          // By index into Trace::communications.
  std::vector<ItemIndex> by_label_;  // By kernel; empty where no label tells any.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_COLLECTIVES_H_
