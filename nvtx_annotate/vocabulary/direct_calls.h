#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_

#include <cstddef>
#include <cstdint>

// A shorter way from our emitters to a recorder that takes their payloads, for the two calls of
// every range: functions of the recorder instead of NVTX's events. C++17: user programs include it.
//
// An emitter asks through NVTX itself, so that it asks the tool of its own copy of NVTX: it
// registers a schema of the name kDirectSchemaName whose only entry has a DirectRequest as its
// description. A recorder that knows the name fills in the calls; any other sees a text. The two
// are of one version: what changes here changes the name.

namespace oplens::markers {

inline constexpr const char* kDirectSchemaName = "oplens.direct.v1";

/// Any thread may call them until the process ends. Handles are those that NVTX returned, null the
/// default domain. Both do what NVTX's functions of the domain do, which may be mixed with them.
struct DirectCalls {
  /// Begins a range of a registered string; `payload`, of a schema of the recorder, may be null.
  void (*push)(void* domain, void* string, uint64_t schema, const void* payload, size_t bytes);
  /// Ends the innermost range of the domain.
  void (*pop)(void* domain);
};

struct DirectRequest {
  char description[24] = "functions to call";
  DirectCalls calls = {};  ///< Null: the tool does not know the name.
};

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_
