#ifndef OPLENS_NVTX_ANNOTATE_EMITTER_H_
#define OPLENS_NVTX_ANNOTATE_EMITTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/vocabulary/direct_calls.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// Emits ranges for annotate.h, the C interface and framework adaptors. Thread-safe, no effect
// unless Enabled(); never throws, and neither locks nor allocates once a thread and a name are
// known.

namespace oplens::annotate {

/// How ranges reach the listening tool.
enum class Mode : uint8_t {
  kOff,      ///< Nobody listens: nothing is emitted, and never will be in this process.
  kText,     ///< Texts in the default domain, for any tool.
  kPayload,  ///< Names and binary payloads in the domain "oplens", for recorders that understand
             ///< them.
};

/// Determined once, at the first call.
Mode EmissionMode() noexcept;

/// The OS thread id for markers.
uint64_t CurrentThread() noexcept;

int64_t NextSequence() noexcept;

/// Begins the ranges of a call: T if the names include its site, O, and S if facts.seq >= 0. Sets
/// facts.tid. Returns a token for detail::End, 0 if nothing was begun.
uint64_t BeginCall(const markers::OpNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept;

/// Names that stay valid and unchanged until the process ends, with the tool's handle once it
/// exists, which saves its lookup.
struct LastingNames {
  markers::OpNames names;
  mutable std::atomic<void*> handle{nullptr};
};
uint64_t BeginCall(const LastingNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept;

/// Begins the ranges of backward node names.op: N, and S if facts.seq >= 0.
uint64_t BeginNode(const LastingNames& names, markers::CallFacts& facts) noexcept;
uint64_t BeginNode(const char* node, markers::CallFacts& facts) noexcept;

// For who begins many ranges: what is the same for all of a thread is asked for once.

/// What is known of a thread.
struct ThreadState;
/// The calling thread's: valid until the thread-local objects that were made after the first call
/// are destroyed. Null: out of memory, or the thread is ending.
ThreadState* StateOfThread() noexcept;
/// Whether the tool takes payloads.
bool TakesPayloads(const ThreadState& state) noexcept;
/// BeginCall() of a payload for such a tool, see PutHead(); `payload.schema` is ignored. 0 also if
/// it was not written.
uint64_t BeginCall(ThreadState* state, const LastingNames& names,
                   markers::DirectPayload* payload) noexcept;
/// detail::End().
void End(ThreadState* state, uint64_t token) noexcept;

/// Begins ranges with these texts, outermost first, for any tool. At most 255.
uint64_t BeginTexts(const char* const* texts, size_t count) noexcept;

/// Begins only range S of an op.
uint64_t BeginSequence(const char* name, markers::CallFacts& facts) noexcept;

/// Emits an allocator event as a mark, for recorders that understand the payload.
void EmitMemory(const markers::MemoryPayload& payload) noexcept;

/// A marker text shared by many ranges. `text` must stay valid until the range began; `handle` is
/// the tool's, may be null.
struct WholeText {
  const char* text = nullptr;
  void* handle = nullptr;
};

/// Registers a text, which must live until the process ends, with the tool. Call once per text: the
/// tool never frees it.
WholeText RegisterText(const char* text) noexcept;

/// Begins a range of a formatted text: a layer with its full path, or a call stack.
uint64_t BeginText(const WholeText& text) noexcept;

/// Counts a range that was not begun because too many are open. The number goes into the recording,
/// see markers::kLeftOutMark, and once a warning to stderr.
void NoteLeftOut() noexcept;

/// Calls `listener`, under a lock, whenever the capture window opens or closes from now on. At most
/// four listeners per process.
using SwitchListener = void (*)(bool on);
void OnSwitch(SwitchListener listener) noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_EMITTER_H_
