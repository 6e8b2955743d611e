#ifndef OPLENS_PROF_PRICE_CALL_KEY_H_
#define OPLENS_PROF_PRICE_CALL_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Names one call of an op. Numbers of annotations and of forward ops are apart, as are those of
/// nodes and sequence ids: `by` says which are meant.
struct CallKey {
  enum class By : uint8_t {
    kRange,     ///< The range of an annotation and when it began.
    kNode,      ///< A forward op and the number of its node.
    kSequence,  ///< A forward op and a sequence id, which may come again.
  };
  By by = By::kRange;
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t number = 0;  ///< Start of the range, number of the node or sequence id.
  int64_t what = 0;    ///< Annotation::id or ForwardOp::id.
  int64_t run = 0;     ///< Of the node or forward op; of a replayed graph: when.
  friend bool operator==(const CallKey&, const CallKey&) = default;
};

/// Of the call that a row is of. nullopt: the row has no price, or only the order of the rows tells
/// what is one call.
std::optional<CallKey> CallKeyOf(const WaitingRow& row);
/// Of a call around the one of `key`.
CallKey AroundKey(const CallKey& key, const OuterCall& outer);

/// What a host thread launches on a stream.
struct StreamKey {
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t stream_id = 0;
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

StreamKey StreamKeyOf(const KernelRecord& record);

struct CallKeyHash {
  size_t operator()(const CallKey& key) const;
};
struct StreamKeyHash {
  size_t operator()(const StreamKey& key) const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_CALL_KEY_H_
