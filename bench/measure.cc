// measure RUNS COMMAND [ARGUMENT...]: runs a command RUNS times with its output thrown away and
// prints "CPU_SECONDS PEAK_BYTES": the median of user + system time and the largest resident size.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "test/support/program.h"

namespace {

int Measure(int runs, const std::vector<std::string>& command) {
  std::vector<double> seconds;
  int64_t peak_bytes = 0;
  for (int run = 0; run < runs; ++run) {
    const oplens::test::RunResult result =
        oplens::test::RunProgram(command, {.stdout_path = "/dev/null"});
    if (result.exit_code != 0) {
      fmt::print(stderr, "measure: {} ended with {}: {}\n", command[0], result.exit_code,
                 result.err);
      return 1;
    }
    seconds.push_back(result.cpu_seconds);
    peak_bytes = std::max(peak_bytes, result.max_rss_bytes);
  }
  std::sort(seconds.begin(), seconds.end());
  fmt::print("{:.6f} {}\n", seconds[seconds.size() / 2], peak_bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::atoi(argv[1]) : 0;
  if (runs < 1) {
    fmt::print(stderr, "usage: measure RUNS COMMAND [ARGUMENT...]\n");
    return 2;
  }
  try {
    return Measure(runs, {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure: {}\n", error.what());
    return 1;
  }
}
