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

inline constexpr const char* kDirectSchemaName = "oplens.direct.v2";

/// The payload of a range, which its emitter writes where the recorder keeps it.
struct DirectPayload {
  uint64_t schema;    ///< Of the recorder.
  size_t most_bytes;  ///< At most kMaxPayloadBytes.
  /// Writes at most most_bytes, and returns their end; null: it cannot, and there is no range. Must
  /// not call the recorder. Not called for a range that is not recorded.
  unsigned char* (*write)(const DirectPayload* payload, unsigned char* at);
};

/// Any thread may call them until the process ends. Handles are those that NVTX returned; domains
/// are that which asked, and null, the default one. Both do what NVTX's functions of the domain do,
/// which may be mixed with them.
struct DirectCalls {
  /// Begins a range of a registered string; `payload` may be null. False: it could not be written.
  bool (*push)(void* domain, void* string, const DirectPayload* payload);
  /// Ends the innermost range of the domain.
  void (*pop)(void* domain);
};

struct DirectRequest {
  char description[24] = "functions to call";
  DirectCalls calls = {};  ///< Null: the tool does not know the name.
};

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_DIRECT_CALLS_H_
