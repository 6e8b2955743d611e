// range_program THREADS PAIRS BYTES [ROUNDS]: THREADS threads that push and pop PAIRS ranges of
// BYTES bytes each, ROUNDS times one after the other; prints how many kB it had in memory at most,
// beyond what it had before the first range. Preloads nothing by itself: OPLENS_TEST_PRELOAD names
// a library for a second image of it, so that `record` itself runs without.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

long Status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return -1;
}

void Emit(int pairs, const std::string& text) {
  for (int i = 0; i < pairs; ++i) {
    nvtxRangePushA(text.c_str());
    nvtxRangePop();
  }
}

void Round(int threads, int pairs, const std::string& text) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back([&] { Emit(pairs, text); });
  for (std::thread& thread : running) thread.join();
}

void Relay(int rounds, int pairs, const std::string& text) {
  std::vector<std::thread> ended;
  for (int i = 0; i < rounds; ++i) {
    std::atomic<long> id{0};
    ended.emplace_back([&] {
      Emit(pairs, text);
      id.store(syscall(SYS_gettid));
    });
    while (id.load() == 0) usleep(100);
    // What a thread leaves to others it does after its function has returned.
    const std::string task = "/proc/self/task/" + std::to_string(id.load());
    while (access(task.c_str(), F_OK) == 0) usleep(100);
  }
  for (std::thread& thread : ended) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (const char* const preload = std::getenv("OPLENS_TEST_PRELOAD")) {
    setenv("LD_PRELOAD", preload, 1);
    unsetenv("OPLENS_TEST_PRELOAD");
    execv("/proc/self/exe", argv);
    return 3;
  }
  // On one thread: NVTX itself is not clean when several threads make the first call.
  nvtxInitialize(nullptr);
  const long before = Status("VmRSS");
  const std::string text(std::strtoul(argv[3], nullptr, 10), 't');
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 1;
  if (argc > 5) {
    Relay(rounds, std::atoi(argv[2]), text);
    return 0;
  }
  for (int i = 0; i < rounds; ++i) Round(std::atoi(argv[1]), std::atoi(argv[2]), text);
  std::printf("%ld\n", Status("VmHWM") - before);
}
