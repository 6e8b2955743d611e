#include "record/inject/event_stream.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstring>

#include "record/inject/clock.h"
#include "record/inject/entry.h"
#include "record/inject/mapped_file.h"
#include "record/inject/process.h"
#include "record/inject/stream.h"
#include "record/inject/tick_clock.h"
#include "record/inject/wide_text.h"

namespace oplens::record::inject {
namespace {

using markers::kDirectDepths;
using markers::kDirectDomains;
using spool::RecordKind;
using OpenRanges = markers::DirectRanges;

constexpr size_t kMostPayloads = 16;
constexpr size_t kPopBytes = sizeof(spool::RecordHead);
/// Of Push(), see Begun::kUnwritten. Not one of NVTX's own.
constexpr int kNotBegun = INT_MIN;

}  // namespace

/// The recorder's state of a thread. It is never freed, but reused by new threads, so that many
/// short threads do not create many files.
struct Thread : markers::DirectThread {
  Stream stream;
  Thread* next;
  uint64_t serial;
  uint64_t ranges;
  /// One bit per level, see OpenRanges.
  uint64_t unstored[kDirectDomains + 1][kDirectDepths / 64];

  void SetUnstored(OpenRanges* of, uint32_t level) {
    if (level >= kDirectDepths) return;
    unstored[of - open][level / 64] |= uint64_t{1} << level % 64;
    ++of->unstored;
  }
  /// Whether the begin of the range of this level, which ends, is in the spool.
  bool TakeStored(OpenRanges* of, uint32_t level) {
    if (level >= kDirectDepths) return false;
    if (of->unstored == 0) return true;
    uint64_t& levels = unstored[of - open][level / 64];
    const uint64_t bit = uint64_t{1} << level % 64;
    if ((levels & bit) == 0) return true;
    levels ^= bit;
    --of->unstored;
    return false;
  }
};

namespace {

// What emitters write themselves.
static_assert(markers::kDirectPush == static_cast<uint8_t>(RecordKind::kPush) &&
              markers::kDirectPop == static_cast<uint8_t>(RecordKind::kPop) &&
              markers::kDirectString == spool::kStringPart &&
              markers::kDirectCall == spool::kCallPart);
static_assert(sizeof(markers::DirectRecord) == sizeof(spool::RecordHead) &&
              offsetof(markers::DirectRecord, size) == offsetof(spool::RecordHead, size) &&
              offsetof(markers::DirectRecord, domain) == offsetof(spool::RecordHead, domain) &&
              offsetof(markers::DirectRecord, kind) == offsetof(spool::RecordHead, kind) &&
              offsetof(markers::DirectRecord, parts) == offsetof(spool::RecordHead, parts));
constexpr size_t kHead = sizeof(spool::RecordHead);
static_assert(sizeof(markers::DirectPushRecord) == kHead + sizeof(spool::CallPart) &&
              offsetof(markers::DirectPushRecord, string) == kHead &&
              offsetof(markers::DirectPushRecord, schema) ==
                  kHead + offsetof(spool::CallPart, schema) &&
              offsetof(markers::DirectPushRecord, size) == kHead + offsetof(spool::CallPart, size));
static_assert(spool::kFirstSchema % (1 << 16) == 0, "the low bits of an id are its schema");

pthread_mutex_t g_threads_mutex = PTHREAD_MUTEX_INITIALIZER;
Thread* g_free = nullptr;
Thread* g_slab = nullptr;  ///< Unused ones.
size_t g_slab_left = 0;
std::atomic<uint64_t> g_serial{0};
pthread_key_t g_key;
bool g_has_key = false;

uint32_t OsThreadId() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

size_t EventStreamPadded(size_t size) { return (size + 7) & ~size_t{7}; }

void GiveBack(Thread* thread) {
  pthread_mutex_lock(&g_threads_mutex);
  thread->next = g_free;
  g_free = thread;
  pthread_mutex_unlock(&g_threads_mutex);
}

void EndThread(void* ended) {
  auto* const thread = static_cast<Thread*>(ended);
  const Entry entry;
  if (t_this.thread != thread || !entry.granted()) return;
  t_this.thread = nullptr;
  GiveBack(thread);
}

Thread* TakeNew() {
  constexpr size_t kSlab = 32;
  if (g_slab_left == 0) {
    g_slab = static_cast<Thread*>(MakeMemory(kSlab * sizeof(Thread)));
    g_slab_left = g_slab == nullptr ? 0 : kSlab;
  }
  return g_slab_left == 0 ? nullptr : &g_slab[--g_slab_left];
}

/// Records that the stream continues with another thread.
bool StoreThread(Thread* thread) {
  thread->stream.SetThread(ThreadId(), OsThreadId());
  constexpr size_t kSize = sizeof(spool::RecordHead) + sizeof(spool::ThreadPart);
  unsigned char* const at = thread->stream.Reserve(kSize, 0);
  if (at == nullptr) return false;
  const spool::RecordHead head = {Now(), kSize, 0, RecordKind::kThread, 0};
  const spool::ThreadPart part = {ThreadId(), OsThreadId()};
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &part, sizeof part);
  thread->stream.Publish(kSize);
  return true;
}

/// Reuses the state of an ended thread, or takes a new one.
Thread* TakeThread() {
  pthread_mutex_lock(&g_threads_mutex);
  if (!g_has_key) g_has_key = pthread_key_create(&g_key, EndThread) == 0;
  Thread* thread = g_free;
  if (thread != nullptr) {
    g_free = thread->next;
  } else {
    thread = TakeNew();
  }
  pthread_mutex_unlock(&g_threads_mutex);
  return thread;
}

__attribute__((noinline, cold)) Thread* StartThread() {
  if (!IsRecording()) return nullptr;
  Thread* const thread = TakeThread();
  if (thread == nullptr) return nullptr;
  const bool again = thread->stream.is_open();
  const Stream stream = thread->stream;
  const markers::DirectChunk chunk = thread->chunk;
  const int64_t last_time_ns = thread->last_time_ns;
  *thread = Thread();
  if (again) {
    thread->stream = stream;
    thread->chunk = chunk;
    thread->last_time_ns = last_time_ns;
    if (!StoreThread(thread)) {
      GiveBack(thread);
      return nullptr;
    }
  } else {
    thread->stream.Open(NewStream(), ThreadId(), OsThreadId(), &thread->chunk);
  }
  thread->serial = g_serial.fetch_add(1, std::memory_order_relaxed) + 1;
  t_this.thread = thread;
  if (g_has_key) pthread_setspecific(g_key, thread);
  return thread;
}

Thread* CurrentThread() {
  auto* const thread = static_cast<Thread*>(t_this.thread);
  return thread != nullptr ? thread : StartThread();
}

/// Out of memory for a further thread; counted only while recording.
void CountWithoutThread() {
  if (IsRecording() && WindowOpen()) CountLostEvent();
}

OpenRanges& OpenOf(markers::DirectThread* thread, uint16_t domain) {
  return thread->open[domain < kDirectDomains ? domain : kDirectDomains];
}

uint32_t Take(uint32_t* count) {
  return std::atomic_ref(*count).exchange(0, std::memory_order_relaxed);
}

/// Strictly after any other event of the thread.
int64_t NextTime(Thread* thread) { return markers::NextDirectTime(thread, SetClock); }

/// Whether a CallPart can hold a payload.
bool FitsCallPart(const nvtxPayloadData_t& payload) {
  return payload.schemaId - spool::kFirstSchema <= UINT16_MAX &&
         PayloadBytes(payload) <= UINT16_MAX;
}

/// The parts and the size of a record.
class Layout {
 public:
  Layout(const NvtxEvent& event, bool has_range) : event_(event) {
    if (event.category != 0 || event.has_color) Add(spool::kLookPart, sizeof(spool::LookPart));
    if (event.has_color) parts_ |= spool::kColorBit;
    if (event.payload_type != 0) Add(spool::kValuePart, sizeof(spool::ValuePart));
    const bool is_call = IsCall();
    if (event.string != 0 && !is_call) Add(spool::kStringPart, sizeof(uint64_t));
    if (has_range) Add(spool::kRangePart, sizeof(uint64_t));
    if (is_call) {
      Add(spool::kCallPart,
          sizeof(spool::CallPart) + EventStreamPadded(PayloadBytes(*event.payloads)));
    } else if (event.payload_count > 0) {
      AddPayloads();
    }
    AddText();
  }
  size_t size() const { return size_; }
  /// Whether part of the event is cut.
  bool is_cut() const { return is_cut_; }
  uint8_t parts() const { return parts_; }

  void Write(RecordKind kind, uint16_t domain, int64_t time_ns, uint64_t range,
             unsigned char* at) const {
    const spool::RecordHead head = {time_ns, static_cast<uint32_t>(size_), domain, kind, parts_};
    Put(head, &at);
    if (parts_ & spool::kLookPart) Put(spool::LookPart{event_.category, event_.color}, &at);
    if (parts_ & spool::kValuePart) {
      Put(spool::ValuePart{event_.value, event_.payload_type, 0}, &at);
    }
    if (parts_ & spool::kStringPart) Put(uint64_t{event_.string}, &at);
    if (parts_ & spool::kRangePart) Put(range, &at);
    if (parts_ & spool::kCallPart) PutCall(&at);
    if (parts_ & spool::kPayloadPart) PutPayloads(&at);
    if (parts_ & spool::kTextPart) PutText(&at);
  }

 private:
  void Add(uint8_t part, size_t bytes) {
    parts_ |= part;
    size_ += bytes;
  }
  bool IsCall() const {
    return event_.string != 0 && event_.payload_count == 1 && FitsCallPart(*event_.payloads);
  }
  void AddPayloads() {
    Add(spool::kPayloadPart, sizeof(uint64_t));
    for (size_t i = 0; i < event_.payload_count && i < kMostPayloads; ++i) {
      const size_t bytes = PayloadBytes(event_.payloads[i]);
      if (payload_bytes_ + bytes > spool::kMostTextBytes) break;
      payload_bytes_ += bytes;
      size_ += sizeof(spool::PayloadHead) + EventStreamPadded(bytes);
      ++payloads_;
    }
    is_cut_ = payloads_ < event_.payload_count;
  }
  void AddText() {
    if (event_.text.wide != nullptr) {
      text_bytes_ = Utf8Bytes(event_.text.wide, spool::kMostTextBytes, &is_cut_);
    } else {
      text_bytes_ = CutBytes(event_.text.bytes.size(), spool::kMostTextBytes, &is_cut_);
    }
    if (text_bytes_ > 0) Add(spool::kTextPart, sizeof(uint64_t) + EventStreamPadded(text_bytes_));
  }

  template <typename T>
  static void Put(const T& value, unsigned char** at) {
    std::memcpy(*at, &value, sizeof value);
    *at += sizeof value;
  }
  void PutCall(unsigned char** at) const {
    const nvtxPayloadData_t& payload = *event_.payloads;
    const size_t bytes = PayloadBytes(payload);
    Put(spool::CallPart{event_.string,
                        static_cast<uint16_t>(payload.schemaId - spool::kFirstSchema),
                        static_cast<uint16_t>(bytes)},
        at);
    if (bytes > 0) std::memcpy(*at, payload.payload, bytes);
    *at += EventStreamPadded(bytes);
  }
  void PutPayloads(unsigned char** at) const {
    Put(uint64_t{payloads_}, at);
    for (size_t i = 0; i < payloads_; ++i) {
      const size_t bytes = PayloadBytes(event_.payloads[i]);
      Put(spool::PayloadHead{event_.payloads[i].schemaId, bytes}, at);
      if (bytes > 0) std::memcpy(*at, event_.payloads[i].payload, bytes);
      *at += EventStreamPadded(bytes);
    }
  }
  void PutText(unsigned char** at) const {
    Put(uint64_t{text_bytes_}, at);
    if (event_.text.wide != nullptr) {
      WriteUtf8(event_.text.wide, text_bytes_, reinterpret_cast<char*>(*at));
    } else {
      std::memcpy(*at, event_.text.bytes.data(), text_bytes_);
    }
    *at += EventStreamPadded(text_bytes_);
  }

  const NvtxEvent& event_;
  size_t size_ = sizeof(spool::RecordHead);
  size_t text_bytes_ = 0;
  size_t payload_bytes_ = 0;
  size_t payloads_ = 0;
  uint8_t parts_ = 0;
  bool is_cut_ = false;
};

/// Stores an event if space for the ends of all open ranges, plus `further`, remains in the chunk:
/// a lost end would end all enclosing ranges too early.
__attribute__((noinline)) bool Store(Thread* thread, RecordKind kind, uint16_t domain,
                                     const NvtxEvent& event, const uint64_t* range,
                                     size_t further) {
  const Layout layout(event, range != nullptr);
  unsigned char* const at =
      thread->stream.Reserve(layout.size(), (thread->pops_due + further) * kPopBytes);
  if (at == nullptr) {
    CountLostEvent();
    return false;
  }
  if (layout.is_cut()) CountCutText();
  layout.Write(kind, domain, NextTime(thread), range == nullptr ? 0 : *range, at);
  thread->stream.Publish(layout.size());
  return true;
}

/// What became of the begin of a range.
enum class Begun : uint8_t {
  kStored,
  kLost,       ///< Not in the spool; its end will not be, either.
  kUnwritten,  ///< DirectPayload::write refused: there is no range.
};

/// Store() of the push of a registered string, with what a CallPart holds; `payload` may be null.
Begun StoreString(Thread* thread, uint16_t domain, uint32_t string,
                  const markers::DirectPayload* payload) {
  static_assert(markers::kMaxPayloadBytes <= UINT16_MAX);
  const size_t most = EventStreamPadded(markers::MostPushBytes(payload));
  if (thread->stream.Reserve(most, (thread->pops_due + 1) * kPopBytes) == nullptr) {
    CountLostEvent();
    return Begun::kLost;
  }
  const bool written = markers::PutPush(thread, SetClock, domain, string, payload);
  return written ? Begun::kStored : Begun::kUnwritten;
}

void EndOne(Thread* thread, uint16_t domain, OpenRanges* open) {
  --open->depth;
  if (!thread->TakeStored(open, open->depth)) return;
  --thread->pops_due;
  if (thread->stream.ReserveSpared(kPopBytes) == nullptr) return CountLostEvent();
  markers::PutPop(thread, SetClock, domain);
}

__attribute__((noinline, cold)) void ApplyMissed(Thread* thread, uint16_t domain,
                                                 OpenRanges* open) {
  for (uint32_t i = Take(&open->missed_pops); i > 0 && open->depth > 0; --i) {
    EndOne(thread, domain, open);
  }
  for (uint32_t i = Take(&open->missed_pushes); i > 0; --i)
    thread->SetUnstored(open, open->depth++);
}

/// Applies missed pushes and pops.
void Settle(Thread* thread, uint16_t domain, OpenRanges* open) {
  if ((open->missed_pops | open->missed_pushes) == 0) return;
  ApplyMissed(thread, domain, open);
}

/// Begins a range: `store` stores it, called if there is a place for it. Returns how many were open
/// in the domain before.
template <typename StoreBegin>
int Push(uint16_t domain, StoreBegin store) {
  Thread* const thread = CurrentThread();
  if (thread == nullptr) {
    CountWithoutThread();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  OpenRanges& open = OpenOf(thread, domain);
  Settle(thread, domain, &open);
  if (WindowOpen() && open.depth < kDirectDepths) {
    const Begun begun = store(thread);
    if (begun == Begun::kStored) {
      ++thread->pops_due;
      return static_cast<int>(open.depth++);
    }
    if (begun == Begun::kUnwritten) return kNotBegun;
  }
  if (WindowOpen() && open.depth >= kDirectDepths) CountLostEvent();
  thread->SetUnstored(&open, open.depth);
  return static_cast<int>(open.depth++);
}

/// Push() of what a CallPart holds; `payload` may be null.
int PushString(uint16_t domain, uint32_t string, const markers::DirectPayload* payload) {
  return Push(domain, [&](Thread* thread) { return StoreString(thread, domain, string, payload); });
}

/// A payload that its emitter wrote somewhere else.
struct CopiedPayload : markers::DirectPayload {
  explicit CopiedPayload(const nvtxPayloadData_t& from)
      : DirectPayload{from.schemaId, PayloadBytes(from), Copy}, data(from.payload) {}

  static unsigned char* Copy(const DirectPayload* payload, unsigned char* at) {
    const void* const data = static_cast<const CopiedPayload*>(payload)->data;
    if (payload->most_bytes > 0) std::memcpy(at, data, payload->most_bytes);
    return at + payload->most_bytes;
  }

  const void* data;
};

int PopOne(uint16_t domain) {
  Thread* const thread = CurrentThread();
  if (thread == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  OpenRanges& open = OpenOf(thread, domain);
  Settle(thread, domain, &open);
  if (open.depth == 0) return -1;
  EndOne(thread, domain, &open);
  return static_cast<int>(open.depth);
}

bool PushDirectly(void* domain, void* string, const markers::DirectPayload* payload) {
  const uint16_t number = markers::DirectDomain(domain);
  const Entry entry;
  if (!entry.granted()) {
    CountRefusedEvent();
    MissPush(number);
    return true;
  }
  return PushString(number, markers::DirectString(string), payload) != kNotBegun;
}

void PopDirectly(void* domain) {
  const uint16_t number = markers::DirectDomain(domain);
  const Entry entry;
  if (!entry.granted()) return MissPop(number);
  PopOne(number);
}

}  // namespace

int StorePush(uint16_t domain, const NvtxEvent& event) noexcept {
  return Push(domain, [&](Thread* thread) {
    const bool stored = Store(thread, RecordKind::kPush, domain, event, nullptr, 1);
    return stored ? Begun::kStored : Begun::kLost;
  });
}

int StorePushString(uint16_t domain, uint32_t string, const nvtxPayloadData_t* payload) noexcept {
  if (payload == nullptr) return PushString(domain, string, nullptr);
  if (FitsCallPart(*payload)) {
    const CopiedPayload copied(*payload);
    return PushString(domain, string, &copied);
  }
  NvtxEvent event;
  event.string = string;
  event.payloads = payload;
  event.payload_count = 1;
  return StorePush(domain, event);
}

int StorePop(uint16_t domain) noexcept { return PopOne(domain); }

uint64_t StoreStart(uint16_t domain, const NvtxEvent& event) noexcept {
  Thread* const thread = CurrentThread();
  if (thread == nullptr) CountWithoutThread();
  if (thread == nullptr || !WindowOpen()) return 0;
  constexpr int kSerialShift = 40;
  const uint64_t range = thread->serial << kSerialShift | ++thread->ranges;
  return Store(thread, RecordKind::kStart, domain, event, &range, 0) ? range : 0;
}

void StoreEnd(uint16_t domain, uint64_t range) noexcept {
  // 0: its start was not stored.
  Thread* const thread = range == 0 ? nullptr : CurrentThread();
  if (thread != nullptr) Store(thread, RecordKind::kEnd, domain, NvtxEvent(), &range, 0);
}

void StoreMark(uint16_t domain, const NvtxEvent& event) noexcept {
  Thread* const thread = CurrentThread();
  if (thread == nullptr) CountWithoutThread();
  if (thread == nullptr || !WindowOpen()) return;
  Store(thread, RecordKind::kMark, domain, event, nullptr, 0);
}

markers::DirectCalls DirectCallsOfEvents() noexcept {
  return {PushDirectly,
          PopDirectly,
          [] { return &t_this; },
          SetClock,
          g_own_mark.load(std::memory_order_relaxed),
          &g_window};
}

__attribute__((cold)) void CountRefusedEvent() noexcept {
  if (WindowOpen()) CountRefusedCall();
}

void MissPush(uint16_t domain) noexcept {
  if (t_this.thread != nullptr) ++OpenOf(t_this.thread, domain).missed_pushes;
}

void MissPop(uint16_t domain) noexcept {
  if (t_this.thread == nullptr) return;
  OpenRanges& open = OpenOf(t_this.thread, domain);
  if (open.missed_pushes > 0) {
    --open.missed_pushes;
  } else {
    ++open.missed_pops;
  }
}

void LockThreads() noexcept { pthread_mutex_lock(&g_threads_mutex); }
void UnlockThreads() noexcept { pthread_mutex_unlock(&g_threads_mutex); }

void ForgetThreads() noexcept {
  if (t_this.thread != nullptr) static_cast<Thread*>(t_this.thread)->stream.Unmap();
  for (Thread* thread = g_free; thread != nullptr; thread = thread->next) thread->stream.Unmap();
  t_this.thread = nullptr;
  g_free = nullptr;
}

}  // namespace oplens::record::inject
