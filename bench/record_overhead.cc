// record_overhead [SECONDS]: what recording costs the thread that pushes and pops NVTX ranges, in
// pairs of clock readings, which any recorder pays; then one thread that makes a million ranges a
// second for SECONDS, and how much memory the process took. See bench/record.sh.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace {

int64_t ReadClock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Nanoseconds of CPU time of this thread that one call takes: the median and the mean over
/// batches.
struct Cost {
  double median;
  double mean;
};

template <typename Call>
Cost Measure(const Call& call) {
  constexpr int kBatches = 200;
  constexpr int kCalls = 5'000;
  std::vector<double> batches;
  double sum = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    const int64_t start = ReadClock(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kCalls; ++i) call();
    const int64_t end = ReadClock(CLOCK_THREAD_CPUTIME_ID);
    batches.push_back(static_cast<double>(end - start) / kCalls);
    sum += batches.back();
  }
  std::sort(batches.begin(), batches.end());
  return {batches[kBatches / 2], sum / kBatches};
}

void Print(const char* name, const Cost& cost, const Cost& clock) {
  std::printf("%-24s %8.1f ns a pair, %6.2f pairs of clock readings (mean %6.2f)\n", name,
              cost.median, cost.median / clock.median, cost.mean / clock.mean);
}

/// kB of this process in memory now and at most, in files that it has mapped.
long Status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return -1;
}

int64_t g_pairs = 0;

void Pair(const char* text) {
  nvtxRangePushA(text);
  nvtxRangePop();
  ++g_pairs;
}

/// A million pairs a second, a thousand each millisecond. Answers the CPU time of a pair in ns.
double Steady(int seconds) {
  constexpr int64_t kTick = 1'000'000;
  constexpr int kPairsATick = 1'000;
  const int64_t cpu_start = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  const int64_t start = ReadClock(CLOCK_MONOTONIC);
  int64_t idle = 0;
  const int64_t ticks = int64_t{seconds} * 1'000;
  for (int64_t tick = 0; tick < ticks; ++tick) {
    for (int i = 0; i < kPairsATick; ++i) Pair("aten::addmm, seq = 1234");
    const int64_t due = start + (tick + 1) * kTick;
    const int64_t now = ReadClock(CLOCK_MONOTONIC);
    if (now < due) {
      idle += due - now;
      const timespec pause = {0, due - now};
      nanosleep(&pause, nullptr);
    }
  }
  const int64_t wall = ReadClock(CLOCK_MONOTONIC) - start;
  std::printf("steady: %lld pairs in %.2f s (asked for %d s), idle %.0f %%\n",
              static_cast<long long>(ticks * kPairsATick), static_cast<double>(wall) / 1e9, seconds,
              100.0 * static_cast<double>(idle) / static_cast<double>(wall));
  const int64_t cpu = ReadClock(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
  return static_cast<double>(cpu) / static_cast<double>(ticks * kPairsATick);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const long memory_before = Status("VmRSS");
  timespec time;
  const Cost clock = Measure([&time] {
    clock_gettime(CLOCK_MONOTONIC, &time);
    clock_gettime(CLOCK_MONOTONIC, &time);
  });
  std::printf("%-24s %8.1f ns\n", "pair of clock readings", clock.median);
  Pair("the first range starts the recorder");
  const std::string short_text(32, 's');
  const std::string long_text(400, 'l');
  Print("16 bytes", Measure([] { Pair("aten::addmm 16 b"); }), clock);
  Print("32 bytes", Measure([&] { Pair(short_text.c_str()); }), clock);
  Print("400 bytes", Measure([&] { Pair(long_text.c_str()); }), clock);
  nvtxDomainHandle_t const domain = nvtxDomainCreateA("bench");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "a registered string");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 7;
  Print("registered, number", Measure([&] {
          nvtxDomainRangePushEx(domain, &event);
          nvtxDomainRangePop(domain);
          ++g_pairs;
        }),
        clock);
  if (seconds > 0) {
    const double cpu = Steady(seconds);
    std::printf("steady: %.1f ns of CPU a pair, %.2f pairs of clock readings\n", cpu,
                cpu / clock.mean);
  }
  std::printf("memory: %ld kB more than at the start, at most %ld kB\n",
              Status("VmRSS") - memory_before, Status("VmHWM"));
  std::printf("ranges: %lld\n", static_cast<long long>(g_pairs));
}
