#ifndef OPLENS_NVTX_ANNOTATE_EMITTER_H_
#define OPLENS_NVTX_ANNOTATE_EMITTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/payload.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// What annotate.h, the C interface and the adaptors of frameworks emit ranges with. Everything may
// be called from any thread, does nothing unless Enabled(), and neither throws, locks nor allocates
// once a thread and a name are known.

namespace oplens::annotate {

/// How ranges reach the tool that listens.
enum class Mode : uint8_t {
  kOff,      ///< Nobody listens: nothing is emitted, and never will be in this process.
  kText,     ///< Texts, in the default domain, for any tool.
  kPayload,  ///< Names and binary payloads, in the domain "oplens", for a recorder that reads them.
};

/// Found at the first call, once: whether a tool listens to NVTX, and which way.
Mode EmissionMode() noexcept;

/// The number of this thread, as the operating system has it, which markers bear.
uint64_t CurrentThread() noexcept;

/// The next sequence number of this thread.
int64_t NextSequence() noexcept;

/// Begins the ranges of one call: T where the names tell its site, O, and S where facts.seq is not
/// negative. facts.tid is filled in. Returns a token for detail::End, 0 when nothing was begun.
uint64_t BeginCall(const markers::OpNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept;

/// Names that stay what and where they are until the process ends, and the tool's handle of them
/// as soon as there is one: whoever has them at hand need not look for it.
struct LastingNames {
  markers::OpNames names;
  mutable std::atomic<void*> handle{nullptr};
};
uint64_t BeginCall(const LastingNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept;

/// Begins the ranges of a backward node, names.op: N, and S where facts.seq is not negative.
uint64_t BeginNode(const LastingNames& names, markers::CallFacts& facts) noexcept;
uint64_t BeginNode(const char* node, markers::CallFacts& facts) noexcept;

/// Begins ranges with these texts, as they are, outermost first, for any tool. At most 255.
uint64_t BeginTexts(const char* const* texts, size_t count) noexcept;

/// Begins only the range S of an op.
uint64_t BeginSequence(const char* name, markers::CallFacts& facts) noexcept;

/// Marks an event of an allocator, for a recorder that takes the payload.
void EmitMemory(const markers::MemoryPayload& payload) noexcept;

/// A marker's text that many ranges have. `text` stays where it is until the range began; `handle`
/// is the tool's, null where there is none.
struct WholeText {
  const char* text = nullptr;
  void* handle = nullptr;
};

/// Has the tool keep a text, which lives until the process ends. Once a text: the tool forgets
/// none.
WholeText RegisterText(const char* text) noexcept;

/// Begins a range of a text that is formatted already: a layer with its whole path, a call stack.
uint64_t BeginText(const WholeText& text) noexcept;

/// Counts a range that could not be begun because too many are open. The number is told in the
/// recording, see markers::kLeftOutMark, and once on stderr.
void NoteLeftOut() noexcept;

/// Calls `listener` whenever the capture window opens or closes, from now on; under a lock. At most
/// four in a process.
using SwitchListener = void (*)(bool on);
void OnSwitch(SwitchListener listener) noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_EMITTER_H_
