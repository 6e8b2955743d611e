// A program that calls the recorder as our emitters do: markers::DirectCalls.
//
//   direct_program taken       prints how the emitter reaches the tool: "direct" or "nvtx"
//   direct_program asked NAME  asks with schemas of this name: prints the answers
//   direct_program mixed       ranges that begin in one way and end in the other
//   direct_program deep        more open ranges than a recorder stores, twice
//   direct_program refused     a range whose payload is not written, between others
//   direct_program handler N   N ranges "main", and a signal handler that has ranges of its own
//   direct_program fork        ranges of a parent and of its child
//   direct_program threads T N T threads with N ranges each, one after the other; prints how many
//   begins and ends
//                              were written without a call

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/tool.h"
#include "nvtx_annotate/vocabulary/direct_range.h"

namespace {

using oplens::annotate::TheTool;
using oplens::markers::DirectCalls;
using oplens::markers::DirectPayload;
using oplens::markers::DirectPush;
using oplens::markers::DirectRequest;

/// Begins and ends of this thread that were written without a call.
thread_local long t_in_place = 0;

void* TextHandle(const char* text) { return nvtxDomainRegisterStringA(nullptr, text); }

/// In place where that is possible, else by a call.
bool Push(void* text, const DirectPayload* payload = nullptr) {
  const DirectCalls& calls = TheTool().direct;
  const DirectPush done = oplens::markers::PushHere(calls, calls.slot(), nullptr, text, payload);
  if (done == DirectPush::kToBeCalled) return calls.push(nullptr, text, payload);
  t_in_place += done == DirectPush::kWritten;
  return done == DirectPush::kWritten;
}
void Pop() {
  const DirectCalls& calls = TheTool().direct;
  if (oplens::markers::PopHere(calls, calls.slot(), nullptr)) {
    ++t_in_place;
  } else {
    calls.pop(nullptr);
  }
}

uint64_t Ask(const char* name, const nvtxPayloadSchemaEntry_t* entries, size_t count) {
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = name;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = count;
  return nvtxPayloadSchemaRegister(TheTool().domain, &schema);
}

int Asked(const char* name) {
  DirectRequest request;
  nvtxPayloadSchemaEntry_t entries[2] = {};
  entries[0].type = entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  const bool no_entries = Ask(name, nullptr, 0) != 0;
  const bool no_text = Ask(name, entries, 1) != 0;
  entries[0].description = entries[1].description = reinterpret_cast<const char*>(&request);
  const bool two = Ask(name, entries, 2) != 0;
  const bool early = request.calls.push != nullptr;
  const bool one = Ask(name, entries, 1) != 0;
  std::printf("schemas %d%d%d%d calls %d%d\n", no_entries, no_text, two, one, early,
              request.calls.push != nullptr && request.calls.pop != nullptr);
  return 0;
}

int Mixed() {
  void* const direct = TextHandle("direct");
  Push(direct);
  nvtxRangePushA("nvtx");
  Pop();
  Push(direct);
  nvtxRangePop();
  nvtxRangePop();
  Pop();  // One too many.
  {
    const oplens::annotate::ScopedOp op({"torch", "mm"}, int64_t{5});
    nvtxRangePushA("inside");
    Push(direct);
    Pop();
    nvtxRangePop();
  }
  return 0;
}

int Deep() {
  constexpr int kRanges = 5000;
  void* const text = TextHandle("deep");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kRanges; ++i) Push(text);
    for (int i = 0; i < kRanges; ++i) Pop();
  }
  return 0;
}

void* g_handler_text = nullptr;
volatile sig_atomic_t g_handled = 0;

int Refused() {
  const DirectPayload payload = {TheTool().schema, 64, [](const DirectPayload*, unsigned char* at) {
                                   std::memset(at, 0xff, 64);
                                   return static_cast<unsigned char*>(nullptr);
                                 }};
  void* const text = TextHandle("direct");
  Push(text);
  std::printf("%d\n", Push(TextHandle("refused"), &payload));
  Push(text);
  Pop();
  Pop();
  return 0;
}

int Handler(long ranges) {
  void* const text = TextHandle("main");
  g_handler_text = TextHandle("handler");
  struct sigaction action = {};
  action.sa_handler = [](int) {
    Push(g_handler_text);
    Pop();
    g_handled = g_handled + 1;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval often = {};
  often.it_interval.tv_usec = often.it_value.tv_usec = 20;
  setitimer(ITIMER_REAL, &often, nullptr);
  for (long i = 0; i < ranges; ++i) {
    Push(text);
    Pop();
  }
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::printf("%ld\n", static_cast<long>(g_handled));
  return 0;
}

int Threads(int count, long ranges) {
  void* const text = TextHandle("of a thread");
  std::atomic<long> in_place{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      for (long range = 0; range < ranges; ++range) {
        Push(text);
        Pop();
      }
      in_place += t_in_place;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", in_place.load());
  return 0;
}

int Fork() {
  void* const text = TextHandle("both");
  Push(text);
  const pid_t child = fork();
  Push(text);
  Pop();
  Pop();
  if (child == 0) return 0;
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const bool taken = TheTool().direct.push != nullptr;
  if (command == "taken") std::puts(taken ? "direct" : "nvtx");
  if (command == "taken") return 0;
  if (command == "asked" && argc > 2) return Asked(argv[2]);
  if (!taken) return 3;
  if (command == "mixed") return Mixed();
  if (command == "deep") return Deep();
  if (command == "refused") return Refused();
  if (command == "handler" && argc > 2) return Handler(std::atol(argv[2]));
  if (command == "fork") return Fork();
  if (command == "threads" && argc > 3) return Threads(std::atoi(argv[2]), std::atol(argv[3]));
  return 99;
}
