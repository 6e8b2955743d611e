#include "record/inject/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "record/inject/clock.h"
#include "record/inject/cupti_session.h"
#include "record/inject/entry.h"
#include "record/inject/event_stream.h"
#include "record/inject/mapped_file.h"
#include "record/inject/tick_clock.h"
#include "record/spool/output_name.h"
#include "record/spool/process_identity.h"

namespace oplens::record::inject {

int64_t g_clock_offset_ns = 0;
constinit std::atomic<bool> g_window{false};

namespace {

enum class Mode : uint32_t {
  kNew,
  kRecording,
  kForked,  ///< A child that has no folder of its own yet.
  kOff,
};

constexpr size_t kPathBytes = 4096;

// Global state, never destroyed: threads may outlive main.
std::atomic<Mode> g_mode{Mode::kNew};
pthread_mutex_t g_start_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t g_names_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t g_activity_mutex = PTHREAD_MUTEX_INITIALIZER;
Options g_options;
spool::ProcessPage* g_process_page = nullptr;
Stream g_names;
Stream g_activity;
markers::DirectChunk g_names_chunk;
markers::DirectChunk g_activity_chunk;
char g_folder[kPathBytes];
// A forked child takes over the parent's names, to which its handles refer.
char g_parent_folder[kPathBytes];
uint32_t g_parent_sequence = 0;
size_t g_parent_used = 0;
/// Whether this thread's fork found the recorder idle.
__attribute__((tls_model("initial-exec"))) constinit thread_local bool t_fork_prepared = false;

void Copy(const char* text, char* out, size_t size) {
  const size_t length = strnlen(text == nullptr ? "" : text, size - 1);
  if (length > 0) std::memcpy(out, text, length);
  out[length] = '\0';
}

bool HasWord(const char* words, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = words; at != nullptr && *at != '\0';) {
    const size_t run = strcspn(at, ",");
    if (run == length && std::memcmp(at, word, length) == 0) return true;
    at += run + (at[run] == ',' ? 1 : 0);
  }
  return false;
}

void ReadOptions() {
  const char* const words = getenv(spool::kOptionsVariable);
  g_options.cuda = HasWord(words, "cuda");
  g_options.nvtx = HasWord(words, "nvtx");
  g_options.memory = HasWord(words, "memory");
  g_options.sync = HasWord(words, "sync");
  g_options.overhead = HasWord(words, "overhead");
  g_options.wait = HasWord(words, spool::kWaitOption);
  g_options.children = HasWord(words, spool::kChildrenOption);
  g_options.arguments = HasWord(words, spool::kArgumentsOption);
  g_options.reference = HasWord(words, spool::kReferenceOption);
}

bool IsRoot() {
  const char* const root = getenv(spool::kRootVariable);
  return root != nullptr && IsSameProcess(ParseIdentity(root), OwnIdentity());
}

/// The program's name from /proc and, if requested, its arguments separated by blanks. Not read
/// directly into the page, because that is a file: all arguments would end up there.
void ReadCommand(char* page, size_t size) {
  static char out[sizeof(spool::ProcessPage::command)];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  size_t length = 0;
  while (length + 1 < size) {
    const ssize_t got = read(file, out + length, size - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += static_cast<size_t>(got);
  }
  close(file);
  if (!g_options.arguments) length = strnlen(out, length);
  while (length > 0 && out[length - 1] == '\0') --length;
  for (size_t i = 0; i < length; ++i) {
    if (out[i] == '\0') out[i] = ' ';
  }
  std::memcpy(page, out, length);
  page[length] = '\0';
}

/// 1 + the value of an environment variable; 0 if that is no number or does not fit.
uint32_t RankVariable(const char* name) {
  const char* const text = name == nullptr ? nullptr : getenv(name);
  constexpr size_t kMostDigits = 9;
  const size_t length = text == nullptr ? 0 : strnlen(text, kMostDigits + 1);
  uint32_t number = 0;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return 0;
    number = number * 10 + static_cast<uint32_t>(text[i] - '0');
  }
  return length == 0 || length > kMostDigits ? 0 : number + 1;
}

void ReadRankVariables(spool::ProcessPage* page) {
  for (size_t i = 0; i < markers::kLauncherCount; ++i) {
    for (size_t fact = 0; fact < markers::kRankFactCount; ++fact) {
      page->rank_variables[i][fact] = RankVariable(markers::kRankVariables[i][fact]);
    }
  }
}

/// SPOOL/PID.N with the first free N: one folder per image (exec) of the process.
bool MakeFolder() {
  const char* const spool = getenv(spool::kSpoolVariable);
  if (spool == nullptr || *spool != '/') return false;
  constexpr int kMostImages = 10'000;
  for (int image = 0; image < kMostImages; ++image) {
    const int length = snprintf(g_folder, sizeof g_folder, "%s/%d.%d", spool, getpid(), image);
    if (length < 0 || static_cast<size_t>(length) >= sizeof g_folder) return false;
    if (mkdir(g_folder, 0700) == 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

/// Writes the state last: it makes the page valid.
bool MakeProcessPage(spool::ProcessState state) {
  char path[kPathBytes + 16];
  snprintf(path, sizeof path, "%s/process", g_folder);
  void* const mapped = MakeMappedFile(path, spool::kProcessPageBytes, FileLock::kWhileMapped);
  if (mapped == nullptr) return false;
  auto* const page = new (mapped) spool::ProcessPage;
  const ProcessIdentity identity = OwnIdentity();
  page->version = spool::kVersion;
  page->process_id = identity.process_id;
  page->pid_namespace = identity.pid_namespace;
  page->start_ticks = identity.start_ticks;
  page->parent_id = getppid();
  page->start_ns = Now();
  page->waits_for_start.store(WindowOpen() || !g_options.wait ? 0 : 1, std::memory_order_relaxed);
  page->streams.store(spool::kFirstEventStream, std::memory_order_relaxed);
  const char* const pattern = getenv(spool::kOutputVariable);
  if (pattern != nullptr) {
    ExpandOutputName(pattern, page->process_id, page->output, sizeof page->output);
  }
  ReadCommand(page->command, sizeof page->command);
  ReadRankVariables(page);
  page->reference = g_options.reference ? 1 : 0;
  std::memcpy(page->magic, spool::kProcessMagic, sizeof page->magic);
  page->state.store(state, std::memory_order_release);
  g_process_page = page;
  return true;
}

/// Records why there is no page.
void NoteNoPage(int error) {
  char path[kPathBytes + 32];
  snprintf(path, sizeof path, "%s/%s%d", g_folder, spool::kErrorPrefix, error);
  mkdir(path, 0700);
}

bool MakeProcess(spool::ProcessState state) {
  if (!MakeFolder()) return false;
  if (!MakeProcessPage(state)) {
    NoteNoPage(errno);
    return false;
  }
  g_names.Open(spool::kNamesStream, 0, 0, &g_names_chunk);
  g_activity.Open(spool::kActivityStream, 0, 0, &g_activity_chunk);
  return true;
}

Mode FirstMode() {
  ReadOptions();
  if (const char* const clock = getenv(spool::kClockVariable)) {
    g_clock_offset_ns = strtoll(clock, nullptr, 10);
  }
  if (!g_options.children && !IsRoot()) {
    MakeProcess(spool::ProcessState::kSkipped);
    return Mode::kOff;
  }
  g_window.store(!g_options.wait, std::memory_order_relaxed);
  MarkOwnProcess();
  UseTicks();
  return MakeProcess(spool::ProcessState::kRunning) ? Mode::kRecording : Mode::kOff;
}

bool CopyNames(uint32_t sequence, size_t used) {
  char path[kPathBytes + 64];
  snprintf(path, sizeof path, "%s/%u.%u", g_parent_folder, spool::kNamesStream, sequence);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat facts = {};
  size_t size = fstat(file, &facts) == 0 ? static_cast<size_t>(facts.st_size) : 0;
  void* const mapped =
      size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return false;
  const auto* const head = static_cast<const spool::ChunkHead*>(mapped);
  if (used == 0) used = head->used.load(std::memory_order_acquire);
  bool stored = false;
  if (used >= sizeof(spool::ChunkHead) && used <= size) {
    const size_t bytes = used - sizeof(spool::ChunkHead);
    unsigned char* const out = bytes == 0 ? nullptr : g_names.Reserve(bytes, 0);
    stored = bytes == 0 || out != nullptr;
    if (out != nullptr) {
      std::memcpy(out, head + 1, bytes);
      g_names.Publish(bytes);
    }
  }
  munmap(mapped, size);
  return stored;
}

Mode ModeOfChild() {
  if (!g_options.children) {
    MakeProcess(spool::ProcessState::kSkipped);
    return Mode::kOff;
  }
  if (!MakeProcess(spool::ProcessState::kRunning)) return Mode::kOff;
  for (uint32_t i = 0; g_parent_used > 0 && i <= g_parent_sequence; ++i) {
    CopyNames(i, i == g_parent_sequence ? g_parent_used : 0);
  }
  return Mode::kRecording;
}

bool StartNow() {
  if (!IsOwnProcess()) return false;
  pthread_mutex_lock(&g_start_mutex);
  Mode mode = g_mode.load(std::memory_order_relaxed);
  if (mode == Mode::kNew) mode = FirstMode();
  if (mode == Mode::kForked) mode = ModeOfChild();
  g_mode.store(mode, std::memory_order_release);
  pthread_mutex_unlock(&g_start_mutex);
  return mode == Mode::kRecording;
}

// A fork must find all locks free and no record half-written. If that is impossible (fork in a
// handler that interrupted a call, or in a child without fork handlers), Entry refuses all calls of
// the child.
void BeforeFork() {
  t_fork_prepared = !t_this.inside && IsOwnProcess();
  if (!t_fork_prepared) return;
  t_this.inside = true;
  pthread_mutex_lock(&g_start_mutex);
  pthread_mutex_lock(&g_names_mutex);
  pthread_mutex_lock(&g_activity_mutex);
  LockThreads();
}

void ReleaseAll() {
  if (!t_fork_prepared) return;
  UnlockThreads();
  pthread_mutex_unlock(&g_activity_mutex);
  pthread_mutex_unlock(&g_names_mutex);
  pthread_mutex_unlock(&g_start_mutex);
  t_this.inside = false;
}

/// The chunks belong to the parent: the child must not write to them.
void AfterForkInChild() {
  if (!t_fork_prepared) return;
  if (g_mode.load(std::memory_order_relaxed) == Mode::kRecording) {
    Copy(g_folder, g_parent_folder, sizeof g_parent_folder);
    g_parent_sequence = g_names.sequence();
    g_parent_used = g_names.used();
    g_names.Unmap();
    g_activity.Unmap();
    ForgetThreads();
    void* const page = g_process_page;
    g_process_page = nullptr;
    munmap(page, spool::kProcessPageBytes);
    g_mode.store(Mode::kForked, std::memory_order_relaxed);
    MarkOwnProcess();
  }
  ReleaseAll();
}

}  // namespace

bool StartProcess() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(BeforeFork, ReleaseAll, AfterForkInChild); });
  return StartNow();
}

bool IsRecording() noexcept {
  const Mode mode = g_mode.load(std::memory_order_acquire);
  if (mode == Mode::kRecording) return true;
  return mode == Mode::kForked && StartNow();
}

const Options& TheOptions() noexcept { return g_options; }

spool::ProcessPage* Page() noexcept { return g_process_page; }

bool ChunkPath(uint32_t stream, uint32_t sequence, char* out, size_t size) noexcept {
  const int length = snprintf(out, size, "%s/%u.%u", g_folder, stream, sequence);
  return length > 0 && static_cast<size_t>(length) < size;
}

bool RingPath(uint32_t stream, uint32_t place, char* out, size_t size) noexcept {
  const int length = snprintf(out, size, "%s/%s%u.%u", g_folder, spool::kRingPrefix, stream, place);
  return length > 0 && static_cast<size_t>(length) < size;
}

void NoteLargeStream(uint32_t stream) noexcept {
  g_process_page->large_streams[stream % spool::kLargeStreams].store(stream + 1,
                                                                     std::memory_order_relaxed);
}

uint32_t NewStream() noexcept {
  return g_process_page->streams.fetch_add(1, std::memory_order_relaxed);
}

void NoteError(int error_number) noexcept {
  int32_t none = 0;
  g_process_page->first_error.compare_exchange_strong(none, error_number,
                                                      std::memory_order_relaxed);
}

void CountLostEvent() noexcept {
  g_process_page->lost_events.fetch_add(1, std::memory_order_relaxed);
}

void CountLostRow() noexcept { g_process_page->lost_rows.fetch_add(1, std::memory_order_relaxed); }

void CountCutText() noexcept { g_process_page->cut_texts.fetch_add(1, std::memory_order_relaxed); }

void CountRefusedCall() noexcept {
  spool::ProcessPage* const page = g_process_page;
  if (page == nullptr) return;
  std::atomic<uint64_t>& counter = IsOwnProcess() ? page->handler_events : page->child_events;
  counter.fetch_add(1, std::memory_order_relaxed);
}

void WriteName(spool::RecordKind kind, uint16_t domain, uint8_t part, uint64_t id,
               std::string_view text, bool is_cut) noexcept {
  if (!IsRecording()) return;
  if (is_cut) CountCutText();
  constexpr size_t kPartBytes = sizeof id;
  size_t size = sizeof(spool::RecordHead) + sizeof(uint64_t) + ((text.size() + 7) & ~size_t{7});
  if (part != 0) size += kPartBytes;
  pthread_mutex_lock(&g_names_mutex);
  if (unsigned char* at = g_names.Reserve(size, 0)) {
    const spool::RecordHead head = {Now(), static_cast<uint32_t>(size), domain, kind,
                                    static_cast<uint8_t>(part | spool::kTextPart)};
    std::memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (part != 0) {
      std::memcpy(at, &id, sizeof id);
      at += sizeof id;
    }
    const uint64_t length = text.size();
    std::memcpy(at, &length, sizeof length);
    if (length > 0) std::memcpy(at + sizeof length, text.data(), length);
    g_names.Publish(size);
  } else {
    CountLostEvent();
  }
  pthread_mutex_unlock(&g_names_mutex);
}

ActivityLock::ActivityLock() noexcept { pthread_mutex_lock(&g_activity_mutex); }
ActivityLock::~ActivityLock() { pthread_mutex_unlock(&g_activity_mutex); }
Stream& ActivityLock::stream() noexcept { return g_activity; }

void SetWindow(bool open) noexcept {
  g_window.store(open, std::memory_order_relaxed);
  if (open && IsOwnProcess() && g_process_page != nullptr) {
    g_process_page->waits_for_start.store(0, std::memory_order_relaxed);
  }
  UpdateCuptiWindow();
}

void EndProcess() noexcept {
  if (!IsOwnProcess() || g_mode.load(std::memory_order_acquire) != Mode::kRecording) return;
  g_process_page->state.store(spool::ProcessState::kEnded, std::memory_order_release);
}

uint32_t ThreadId() noexcept {
  return static_cast<uint32_t>(static_cast<uint64_t>(pthread_self()));
}

}  // namespace oplens::record::inject
