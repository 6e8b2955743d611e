#include "nvtx_annotate/emitter.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/hot.h"
#include "nvtx_annotate/name_table.h"
#include "nvtx_annotate/payload.h"
#include "nvtx_annotate/tool.h"
#include "nvtx_annotate/vocabulary/direct_range.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::annotate {

using markers::Direction;
using markers::kMaxDepth;

namespace {

constexpr size_t kNameSlots = 256;
constexpr size_t kMaxLayerBytes = 2 * markers::kMaxStringBytes;

// A token: 24 bits of the thread's serial, 28 of the range number, 12 of the index in `begun`.
constexpr int kPlaceBits = 12;
constexpr int kNumberBits = 28;
constexpr uint64_t kPlaceMask = (1u << kPlaceBits) - 1;
constexpr uint64_t kNumberMask = uint64_t{(1u << kNumberBits) - 1} << kPlaceBits;
static_assert(kMaxDepth <= kPlaceMask + 1);

/// The ranges of one token. Of a size whose multiples are found by a shift.
struct alignas(16) Begun {
  uint64_t token = 0;                   ///< Tells reuses of the entry apart.
  uint8_t plain = 0;                    ///< Number of ranges in the default domain.
  uint8_t own = 0;                      ///< Number of ranges in the domain "oplens", at most 1.
  Direction dir = Direction::kForward;  ///< Default direction before this range.
  uint32_t layer = 0;                   ///< Length of the layer path before this range.
};

/// A thread's cache entry for the registered name of an op.
struct NameSlot {
  markers::OpNames names;  ///< With the addresses of the texts.
  const RegisteredName* name = nullptr;
};

}  // namespace

/// State of a thread, allocated when it begins its first range.
struct ThreadState {
  const Tool tool = TheTool();
  /// The recorder's of this thread; null: it takes no direct calls.
  markers::DirectSlot* const slot = tool.direct.slot == nullptr ? nullptr : tool.direct.slot();
  uint64_t number = 0;
  int64_t next_sequence = 0;
  uint64_t serial = 0;       ///< Tells the tokens of threads apart: the upper bits of them.
  uint64_t last_number = 0;  ///< Within kNumberMask.
  uint32_t depth = 0;        ///< Used entries of `begun`.
  uint32_t layer_size = 0;
  Direction dir = Direction::kForward;  ///< Default direction of ops.
  uint32_t left_out = 0;                ///< Ranges left out since the last successful one.
  NameSlot names[kNameSlots];
  Begun begun[kMaxDepth];
  char layer[kMaxLayerBytes];
  alignas(16) unsigned char payload[markers::kPayloadBufferBytes];
  char text[markers::kTextBufferBytes];
};

namespace {

std::atomic<uint32_t> g_last_serial{0};

thread_local ThreadState* t_state = nullptr;

std::atomic<uint64_t> g_left_out{0};

/// The OS gives the only thread of a forked child a new id.
void RenumberThread() {
  UnlockNames();
  if (t_state != nullptr) t_state->number = static_cast<uint64_t>(syscall(SYS_gettid));
}

void WatchForks() {
  static const int watching = pthread_atfork(LockNames, UnlockNames, RenumberThread);
  static_cast<void>(watching);
}

class StateOwner {
 public:
  StateOwner() noexcept : state_(new (std::nothrow) ThreadState) {
    if (state_ == nullptr) return;
    WatchForks();
    state_->number = static_cast<uint64_t>(syscall(SYS_gettid));
    // From 1, so that no token is 0.
    constexpr uint32_t kSerials = (1u << 24) - 1;
    const uint32_t serial = g_last_serial.fetch_add(1, std::memory_order_relaxed) % kSerials + 1;
    state_->serial = uint64_t{serial} << (kNumberBits + kPlaceBits);
  }
  ~StateOwner() {
    t_state = nullptr;
    gone = true;
    delete state_;
  }
  ThreadState* get() const noexcept { return state_; }

  /// Set once the state is freed: thread-local objects destroyed later emit nothing.
  static thread_local bool gone;

 private:
  ThreadState* const state_;
};
thread_local bool StateOwner::gone = false;

__attribute__((noinline, cold)) ThreadState* MakeState() noexcept {
  if (StateOwner::gone) return nullptr;
  static thread_local StateOwner owner;
  t_state = owner.get();
  return t_state;
}

ThreadState* CurrentState() noexcept {
  ThreadState* const state = t_state;
  return __builtin_expect(state != nullptr, 1) ? state : MakeState();
}

/// Emits a text mark in the domain "oplens".
void PushMark(const Tool& tool, const char* text) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  nvtxDomainMarkEx(tool.domain, &event);
}

/// Emits the total number of ranges left out, now that there is room again.
__attribute__((noinline, cold)) void ReportLeftOut(ThreadState* state) {
  state->left_out = 0;
  const uint64_t count = g_left_out.load(std::memory_order_relaxed);
  char text[64];
  char digits[24];
  const size_t size =
      static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, count).ptr - digits);
  static_assert(markers::kLeftOutMark.size() + sizeof digits < sizeof text);
  markers::FormatPlain(markers::kLeftOutMark, {digits, size}, text);
  PushMark(state->tool, text);
}

__attribute__((noinline, cold)) void CountLeftOut(ThreadState* state) {
  ++state->left_out;
  if (g_left_out.fetch_add(1, std::memory_order_relaxed) > 0) return;
  // Once per process, so that the recording does not seem complete.
  constexpr char kText[] =
      "oplens: more than 4096 ranges are open in a thread: those nested deeper are left out\n";
  static_assert(kMaxDepth == 4096);
  static_cast<void>(!write(STDERR_FILENO, kText, sizeof kText - 1));
}

/// Adds an entry for the ranges of a token; null if full.
inline Begun* Open(ThreadState* state) {
  if (__builtin_expect(state == nullptr, 0)) return nullptr;
  if (__builtin_expect(state->depth == kMaxDepth, 0)) {
    CountLeftOut(state);
    return nullptr;
  }
  if (__builtin_expect(state->left_out > 0, 0)) ReportLeftOut(state);
  const uint64_t place = state->depth++;
  Begun* const begun = &state->begun[place];
  state->last_number = (state->last_number + (uint64_t{1} << kPlaceBits)) & kNumberMask;
  begun->token = state->serial | state->last_number | place;
  begun->plain = begun->own = 0;
  begun->dir = state->dir;
  begun->layer = state->layer_size;
  return begun;
}

void PushText(const char* text, Begun* begun) {
  nvtxRangePushA(text);
  ++begun->plain;
}

/// Pushes the text of an op with its sequence number as payload, for tools that show payloads.
void PushNumbered(const char* text, int64_t seq, Begun* begun) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = seq;
  nvtxRangePushEx(&event);
  ++begun->plain;
}

std::string_view View(const char* text) { return text == nullptr ? std::string_view() : text; }

/// The tool's handle for `names`; null: the table of names is full.
nvtxStringHandle_t HandleOf(const markers::OpNames& names, ThreadState* state) {
  const auto address = reinterpret_cast<uintptr_t>(names.op) +
                       reinterpret_cast<uintptr_t>(names.aten) * 3 +
                       static_cast<unsigned>(names.line) * 8u;
  NameSlot& slot = state->names[(address >> 3 ^ address >> 11) % kNameSlots];
  const bool same_place = slot.names.op == names.op && slot.names.mod == names.mod &&
                          slot.names.aten == names.aten && slot.names.line == names.line &&
                          slot.names.file == names.file && slot.name != nullptr;
  if (same_place && slot.name->IsNamed(names)) return slot.name->handle();
  const RegisteredName* const name = InternName(names, state->tool.domain);
  if (name == nullptr) return nullptr;
  slot = {names, name};
  return name->handle();
}

__attribute__((noinline, cold)) nvtxStringHandle_t FirstHandleOf(const LastingNames& lasting,
                                                                 ThreadState* state) {
  const RegisteredName* const name = InternName(lasting.names, state->tool.domain);
  if (name == nullptr) return nullptr;
  lasting.handle.store(name->handle(), std::memory_order_release);
  return name->handle();
}

inline nvtxStringHandle_t HandleOf(const LastingNames& lasting, ThreadState* state) {
  if (void* const known = lasting.handle.load(std::memory_order_acquire)) {
    return static_cast<nvtxStringHandle_t>(known);
  }
  return FirstHandleOf(lasting, state);
}

const markers::OpNames& TextsOf(const markers::OpNames& names) { return names; }
const markers::OpNames& TextsOf(const LastingNames& lasting) { return lasting.names; }

/// Pushes a range of the domain "oplens" by NVTX's own event; `handle` may be null.
__attribute__((noinline, cold)) void PushByNvtx(const Tool& tool, nvtxStringHandle_t handle,
                                                const char* text, size_t size,
                                                const unsigned char* payload) {
  const nvtxPayloadData_t data = {tool.schema, size, payload};
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;  // Number of payloads.
  event.payload.ullValue = reinterpret_cast<uintptr_t>(&data);
  if (handle != nullptr) {
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = handle;
  } else {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
  }
  nvtxDomainRangePushEx(tool.domain, &event);
}

/// Begins a range in a recorder that takes direct calls. False: its payload was not written.
__attribute__((noinline)) OPLENS_HOT bool PushDirect(ThreadState* state, void* domain, void* string,
                                                     const markers::DirectPayload* payload) {
  const markers::DirectCalls& calls = state->tool.direct;
  const markers::DirectPush done = markers::PushHere(calls, state->slot, domain, string, payload);
  if (__builtin_expect(done == markers::DirectPush::kToBeCalled, 0))
    return calls.push(domain, string, payload);
  return done == markers::DirectPush::kWritten;
}

inline void PopDirect(ThreadState* state, void* domain) {
  const markers::DirectCalls& calls = state->tool.direct;
  if (__builtin_expect(!markers::PopHere(calls, state->slot, domain), 0)) calls.pop(domain);
}

/// Begins a range of a payload; 0 also if it was not written.
template <typename Names>
inline uint64_t BeginPayload(const Names& names, markers::DirectPayload* payload,
                             ThreadState* state) {
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  const Tool& tool = state->tool;
  payload->schema = tool.schema;
  begun->own = 1;
  const nvtxStringHandle_t handle = HandleOf(names, state);
  if (__builtin_expect(handle != nullptr && state->slot != nullptr, 1)) {
    if (__builtin_expect(PushDirect(state, tool.domain, handle, payload), 1)) return begun->token;
  } else if (unsigned char* const end = payload->write(payload, state->payload)) {
    if (handle == nullptr) markers::FormatMessage(TextsOf(names), state->text);
    static_assert(markers::kMessageBufferBytes <= sizeof state->text);
    const auto size = static_cast<size_t>(end - state->payload);
    PushByNvtx(tool, handle, state->text, size, state->payload);
    return begun->token;
  }
  --state->depth;
  return 0;
}

/// A payload that was written before.
struct EncodedPayload : markers::DirectPayload {
  EncodedPayload(const unsigned char* from, size_t size)
      : DirectPayload{0, size, Copy}, data(from) {}

  static unsigned char* Copy(const DirectPayload* payload, unsigned char* at) {
    const unsigned char* const from = static_cast<const EncodedPayload*>(payload)->data;
    // It is there where the tool takes no direct calls.
    if (at != from) std::memcpy(at, from, payload->most_bytes);
    return at + payload->most_bytes;
  }

  const unsigned char* const data;
};

/// Begins the range of a call, node or number: one payload or, for tools without payloads, the
/// texts pushed by `push_texts(buffer, begun)`. Sets facts->tid.
template <typename Names, typename PushTexts>
uint64_t Begin(const Names& names, uint8_t flags, const oplens_arg* args, size_t count,
               markers::CallFacts* facts, PushTexts push_texts) {
  ThreadState* const state = CurrentState();
  if (state == nullptr) return 0;
  facts->tid = state->number;
  if (state->tool.mode == Mode::kPayload) {
    // Its length is not known before: it is written where there is room for any.
    const size_t size = markers::EncodePayload(*facts, flags, args, count, state->payload);
    EncodedPayload payload(state->payload, size);
    return BeginPayload(names, &payload, state);
  }
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  push_texts(state->text, begun);
  return begun->token;
}

template <typename Names>
uint64_t BeginCallOf(const Names& given, markers::CallFacts& facts, const oplens_arg* args,
                     size_t count) {
  return Begin(given, 0, args, count, &facts, [&](char* text, Begun* begun) {
    const markers::OpNames& names = TextsOf(given);
    if (!View(names.file).empty()) {
      markers::FormatTrace(&names.file, 1, names.line, text);
      PushText(text, begun);
    }
    markers::FormatOp(names, &facts, args, count, 0, text);
    if (facts.seq < 0) return PushText(text, begun);
    PushNumbered(text, facts.seq, begun);
    markers::FormatSequence(names.aten != nullptr ? names.aten : names.op, facts.seq, false, text);
    PushText(text, begun);
  });
}

/// The payload of a node.
struct NodePayload : markers::DirectPayload {
  explicit NodePayload(const markers::CallFacts& node)
      : DirectPayload{0, markers::kMostNodeBytes, Write}, facts(node) {}

  static unsigned char* Write(const DirectPayload* payload, unsigned char* at) {
    return at + markers::EncodeNode(static_cast<const NodePayload*>(payload)->facts, at);
  }

  const markers::CallFacts& facts;
};

template <typename Names>
uint64_t BeginNodeOf(const Names& names, markers::CallFacts& facts) {
  ThreadState* const current = CurrentState();
  if (current != nullptr && current->tool.mode == Mode::kPayload) {
    facts.tid = current->number;
    NodePayload payload(facts);
    return BeginPayload(names, &payload, current);
  }
  return Begin(names, markers::kNodeFlag, nullptr, 0, &facts, [&](char* text, Begun* begun) {
    const char* const node = TextsOf(names).op;
    markers::FormatNode(node, &facts, text);
    PushText(text, begun);
    if (facts.seq < 0) return;
    markers::FormatSequence(node, facts.seq, true, text);
    PushText(text, begun);
  });
}

/// Begins a range with the text written by `format(buffer)`.
template <typename Format>
uint64_t BeginText(Format format) {
  ThreadState* const state = CurrentState();
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  format(state->text);
  PushText(state->text, begun);
  return begun->token;
}

uint64_t BeginPlain(std::string_view prefix, std::string_view text) {
  return BeginText([&](char* buffer) { markers::FormatPlain(prefix, text, buffer); });
}

/// Sets the default direction inside the range begun last.
void SetDirection(uint64_t token, Direction dir) {
  if (token != 0) t_state->dir = dir;
}

void PopLast(ThreadState* state) {
  const Begun& begun = state->begun[--state->depth];
  const Tool& tool = state->tool;
  if (state->slot != nullptr) {
    if (begun.own != 0) tool.direct.pop(tool.domain);
    for (unsigned i = begun.plain; i != 0; --i) tool.direct.pop(nullptr);
  } else {
    if (begun.own != 0) nvtxDomainRangePop(tool.domain);
    for (unsigned i = begun.plain; i != 0; --i) nvtxRangePop();
  }
  state->layer_size = begun.layer;
  state->dir = begun.dir;
}

__attribute__((noinline)) void PopTo(uint32_t depth, ThreadState* state) {
  while (state->depth > depth) PopLast(state);
}

bool StartsOff() {
  const char* const options = std::getenv("OPLENS_ANNOTATE");
  return HasWord(options == nullptr ? "" : options, "off");
}

const char* PhaseWord(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kData:
      return "data";
    case Phase::kCommunication:
      return "communication";
  }
  return "other";
}

constexpr size_t kMaxListeners = 4;
std::mutex g_switch_mutex;
SwitchListener g_listeners[kMaxListeners] = {};

/// `mark`: null for none.
void SwitchEmission(bool on, const char* mark) noexcept {
  const Tool& tool = TheTool();
  if (tool.mode == Mode::kOff) {
    detail::g_state.store(detail::kOff, std::memory_order_relaxed);
    return;
  }
  const std::lock_guard lock(g_switch_mutex);
  if (mark != nullptr) PushMark(tool, mark);
  detail::g_state.store(on ? detail::kOn : detail::kOff, std::memory_order_relaxed);
  for (const SwitchListener listener : g_listeners) {
    if (listener != nullptr) listener(on);
  }
}

}  // namespace

Mode EmissionMode() noexcept { return TheTool().mode; }

uint64_t CurrentThread() noexcept {
  const ThreadState* const state = CurrentState();
  return state == nullptr ? 0 : state->number;
}

int64_t NextSequence() noexcept {
  ThreadState* const state = CurrentState();
  return state == nullptr ? -1 : state->next_sequence++;
}

bool HasWord(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

uint64_t BeginCall(const markers::OpNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept {
  return BeginCallOf(names, facts, args, count);
}

uint64_t BeginCall(const LastingNames& names, markers::CallFacts& facts, const oplens_arg* args,
                   size_t count) noexcept {
  return BeginCallOf(names, facts, args, count);
}

ThreadState* StateOfThread() noexcept { return CurrentState(); }

bool TakesPayloads(const ThreadState& state) noexcept { return state.tool.mode == Mode::kPayload; }

OPLENS_HOT uint64_t BeginCall(ThreadState* state, const LastingNames& names,
                              markers::DirectPayload* payload) noexcept {
  return BeginPayload(names, payload, state);
}

OPLENS_HOT uint64_t BeginNode(const LastingNames& names, markers::CallFacts& facts) noexcept {
  return BeginNodeOf(names, facts);
}

uint64_t BeginNode(const char* node, markers::CallFacts& facts) noexcept {
  markers::OpNames names;
  names.op = node;
  return BeginNodeOf(names, facts);
}

uint64_t BeginTexts(const char* const* texts, size_t count) noexcept {
  ThreadState* const state = CurrentState();
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  for (size_t i = 0; i < count; ++i) PushText(texts[i], begun);
  return begun->token;
}

uint64_t BeginSequence(const char* name, markers::CallFacts& facts) noexcept {
  markers::OpNames names;
  names.op = name;
  return Begin(names, markers::kSeqOnlyFlag, nullptr, 0, &facts, [&](char* text, Begun* begun) {
    markers::FormatSequence(name, facts.seq, false, text);
    PushText(text, begun);
  });
}

WholeText RegisterText(const char* text) noexcept {
  // The string of a range must belong to its domain, here the default one.
  return {text, nvtxDomainRegisterStringA(nullptr, text)};
}

OPLENS_HOT uint64_t BeginText(const WholeText& text) noexcept {
  ThreadState* const state = CurrentState();
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  if (text.handle == nullptr) {
    PushText(text.text, begun);
    return begun->token;
  }
  ++begun->plain;
  if (state->slot != nullptr) {
    PushDirect(state, nullptr, text.handle, nullptr);
    return begun->token;
  }
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = static_cast<nvtxStringHandle_t>(text.handle);
  nvtxRangePushEx(&event);
  return begun->token;
}

void NoteLeftOut() noexcept {
  if (ThreadState* const state = CurrentState()) CountLeftOut(state);
}

void OnSwitch(SwitchListener listener) noexcept {
  const std::lock_guard lock(g_switch_mutex);
  for (SwitchListener& place : g_listeners) {
    if (place == listener) return;
    if (place != nullptr) continue;
    place = listener;
    return;
  }
}

OPLENS_HOT void End(ThreadState* state, uint64_t token) noexcept {
  const auto place = static_cast<uint32_t>(token & kPlaceMask);
  const Begun& begun = state->begun[place];
  if (place >= state->depth || begun.token != token) return;
  // Most are the innermost, and one range.
  if (place + 1 != state->depth || begun.own + begun.plain != 1 || state->slot == nullptr) {
    return PopTo(place, state);
  }
  state->depth = place;
  state->layer_size = begun.layer;
  state->dir = begun.dir;
  PopDirect(state, begun.own != 0 ? state->tool.domain : nullptr);
}

namespace detail {

std::atomic<uint8_t> g_state{kUnknown};

bool DecideState() noexcept {
  const bool on = TheTool().mode != Mode::kOff && !StartsOff();
  // A concurrent start() or stop() takes precedence.
  uint8_t expected = kUnknown;
  g_state.compare_exchange_strong(expected, on ? kOn : kOff, std::memory_order_relaxed);
  return g_state.load(std::memory_order_relaxed) == kOn;
}

uint64_t BeginOp(const char* mod, const char* op, const char* file, int line,
                 const oplens_arg* args, size_t count, ForwardLink* link) noexcept {
  markers::OpNames names;
  names.mod = mod;
  names.op = op;
  names.file = file;
  names.line = line;
  markers::CallFacts facts;
  if (const ThreadState* const state = CurrentState()) facts.dir = state->dir;
  if (link != nullptr) {
    *link = {NextSequence(), CurrentThread()};
    facts.seq = link->seq;
  }
  return BeginCall(names, facts, args, count);
}

uint64_t BeginBackward(const char* node, const ForwardLink& link) noexcept {
  markers::CallFacts facts;
  facts.seq = link.seq;
  facts.ftid = link.seq < 0 ? 0 : link.thread;
  facts.dir = Direction::kBackward;
  const uint64_t token = BeginNode(node, facts);
  SetDirection(token, Direction::kBackward);
  return token;
}

uint64_t BeginLayer(const char* name) noexcept {
  ThreadState* const state = CurrentState();
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  const std::string_view text = View(name);
  const size_t dot = state->layer_size > 0 ? 1 : 0;
  // A path that is too long is truncated at the end, like the text.
  if (state->layer_size + dot + 1 < kMaxLayerBytes) {
    if (dot != 0) state->layer[state->layer_size++] = '.';
    const size_t room = kMaxLayerBytes - state->layer_size;
    const size_t size = text.size() < room ? text.size() : room;
    if (size > 0) std::memcpy(state->layer + state->layer_size, text.data(), size);
    state->layer_size += static_cast<uint32_t>(size);
  }
  markers::FormatLayer({state->layer, state->layer_size}, state->text);
  PushText(state->text, begun);
  return begun->token;
}

uint64_t BeginTrace(const char* const* frames, size_t count) noexcept {
  ThreadState* const state = CurrentState();
  Begun* const begun = Open(state);
  if (begun == nullptr) return 0;
  markers::FormatTrace(frames, frames == nullptr ? 0 : count, 0, state->text);
  PushText(state->text, begun);
  return begun->token;
}

uint64_t BeginIteration(int64_t number) noexcept {
  char digits[24];
  size_t at = sizeof digits;
  uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do {
    digits[--at] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) digits[--at] = '-';
  return BeginPlain(markers::kStepPrefix, {digits + at, sizeof digits - at});
}

uint64_t BeginPhase(Phase phase) noexcept {
  const uint64_t token = BeginPlain(markers::kPhasePrefix, PhaseWord(phase));
  if (phase == Phase::kForward) SetDirection(token, Direction::kForward);
  if (phase == Phase::kBackward) SetDirection(token, Direction::kBackward);
  if (phase == Phase::kOptimizer) SetDirection(token, Direction::kOptimizer);
  return token;
}

uint64_t BeginRange(std::string_view text) noexcept {
  return BeginText([&](char* buffer) { markers::FormatFree(text, buffer); });
}

void End(uint64_t token) noexcept {
  if (ThreadState* const state = t_state) annotate::End(state, token);
}

}  // namespace detail

void StartCapture() noexcept {
  SwitchEmission(true, markers::kStartMark);
  SwitchCudaProfiler(true);
}

void StopCapture() noexcept {
  SwitchEmission(false, markers::kStopMark);
  SwitchCudaProfiler(false);
}

void HoldCapture() noexcept { SwitchEmission(false, markers::kScheduleMark); }

void WarmUpCapture() noexcept {
  if (TheTool().mode == Mode::kPayload) SwitchEmission(true, nullptr);
}

void StartCycle(int64_t cycle) noexcept {
  char mark[64];
  std::snprintf(mark, sizeof mark, "%s%lld", markers::kCycleStartMark,
                static_cast<long long>(cycle));
  SwitchEmission(true, mark);
  SwitchCudaProfiler(true);
}

void StopCycle(int64_t cycle, CycleEnd end) noexcept {
  char mark[64];
  std::snprintf(mark, sizeof mark, "%s%lld", markers::kCycleStopMark,
                static_cast<long long>(cycle));
  SwitchEmission(false, end == CycleEnd::kComplete ? mark : markers::kDroppedMark);
  SwitchCudaProfiler(false);
}

void EmitMemory(const markers::MemoryPayload& payload) noexcept {
  const Tool& tool = TheTool();
  if (tool.memory_schema == 0) return;
  const nvtxPayloadData_t data = {tool.memory_schema, sizeof payload, &payload};
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;  // Number of payloads.
  event.payload.ullValue = reinterpret_cast<uintptr_t>(&data);
  nvtxDomainMarkEx(tool.domain, &event);
}

}  // namespace oplens::annotate
