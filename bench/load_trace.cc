// load_trace FILE [all]: opens a profile of any family and says what it holds, how long that took
// and how much memory; with "all", with all parts that clients may ask for. Serves to time reading
// alone, without correlation and output.

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "parse/readers/open_trace.h"

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void Run(const std::string& path, oplens::TraceNeeds needs) {
  const auto begin = std::chrono::steady_clock::now();
  oplens::Diagnostics diagnostics;
  const oplens::Trace trace = oplens::parse::OpenTrace(path, needs, &diagnostics);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  int64_t kernel_ns = 0;
  for (const oplens::Kernel& kernel : trace.kernels) kernel_ns += kernel.end_ns - kernel.start_ns;
  fmt::print(
      "{}: {} kernels, {} ns, {} ranges, {} operators, {} launches, {} copies, {} sets, {} memory "
      "events, {} texts\n",
      oplens::FamilyWord(trace.family), trace.kernels.size(), kernel_ns, trace.ranges.size(),
      trace.operators.size(), trace.launches.size(), trace.copies.size(), trace.sets.size(),
      trace.memory_events.size(), trace.strings.size());
  fmt::print("{:.3f} s wall, {:.3f} s user, {:.3f} s system, {} KB at most\n", wall.count(),
             Seconds(usage.ru_utime), Seconds(usage.ru_stime), usage.ru_maxrss);
  fmt::print("{}", diagnostics.Render("load_trace"));
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc == 3 && std::string_view(argv[2]) == "all";
  if (argc != 2 && !all) {
    fmt::print(stderr, "usage: load_trace FILE [all]\n");
    return 2;
  }
  try {
    Run(argv[1], all ? oplens::TraceNeeds::All() : oplens::TraceNeeds());
  } catch (const std::exception& error) {
    fmt::print(stderr, "load_trace: {}\n", error.what());
    return 1;
  }
  return 0;
}
