#ifndef OPLENS_PARSE_JOIN_COLLECTIVES_H_
#define OPLENS_PARSE_JOIN_COLLECTIVES_H_

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

/// The calls of the collectives that kernels of a trace are.
class Collectives {
 public:
  struct Call {
    StringId text = 0;  ///< Canonical (AppendOpCall).
    StringId op = 0;
    StringId mod = 0;
  };

  /// Adds their texts to the trace's strings.
  explicit Collectives(Trace* trace);

  /// Null where the kernel is none.
  const Call* Of(const Trace& trace, const Kernel& kernel) const {
    const ItemIndex communication = trace.DetailsOf(kernel).communication;
    return communication < calls_.size() ? &calls_[communication] : nullptr;
  }

 private:
  std::vector<Call> calls_;  // By index into Trace::communications.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_COLLECTIVES_H_
