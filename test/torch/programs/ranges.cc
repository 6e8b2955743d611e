// programs_ranges CAPTURE RANGES DATABASE: what the test recorder saw, for the checks of programs.
//
// RANGES becomes a file with a line of JSON for each mark, {"time":N,"mark":TEXT}, then for each
// range, a thread after the other, outer ones before those in them:
// {"at":N,"parent":N,"tid":N,"start":N,"end":N,"text":TEXT}, parent -1 for none; then
// {"faults":[TEXT,..]}. DATABASE becomes a profile in which every op and node that holds no other
// has launched a kernel, named "h" and the number of the call.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "test/support/nvtx_capture.h"

namespace {

using oplens::test::NvtxCapture;
using oplens::test::NvtxEvent;
using oplens::test::NvtxRange;
using oplens::test::NvtxRanges;

/// The number of a call; "" where its text has none.
std::string Handle(const std::string& text) {
  constexpr std::string_view kKey = "'h': ";
  const size_t at = text.rfind(kKey);
  if (at == text.npos) return "";
  const size_t begin = at + kKey.size();
  return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
}

void Write(const NvtxCapture& capture, const NvtxRanges& ranges,
           const std::filesystem::path& path) {
  std::ofstream file(path);
  for (const NvtxEvent& event : capture.events) {
    if (event.kind != NvtxEvent::Kind::kMark) continue;
    const nlohmann::ordered_json line = {{"time", event.time_ns}, {"mark", event.text}};
    file << line.dump() << '\n';
  }
  for (size_t i = 0; i < ranges.ranges.size(); ++i) {
    const NvtxRange& range = ranges.ranges[i];
    const nlohmann::ordered_json line = {{"at", i},
                                         {"parent", range.parent},
                                         {"tid", range.thread_id},
                                         {"start", range.start_ns},
                                         {"end", range.end_ns},
                                         {"text", range.text}};
    file << line.dump() << '\n';
  }
  file << nlohmann::ordered_json{{"faults", ranges.faults}}.dump() << '\n';
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

void Run(char** paths) {
  const NvtxCapture capture = oplens::test::ReadCapture(paths[0]);
  const NvtxRanges ranges = oplens::test::RangesOf(capture);
  Write(capture, ranges, paths[1]);
  std::filesystem::remove(paths[2]);
  oplens::test::CaptureLaunches launches;
  launches.kernel = [](const NvtxRange& range) {
    return oplens::test::KernelSpec{.name = "h" + Handle(range.text)};
  };
  oplens::test::WriteNvprofCapture(ranges, capture.process_id, paths[2], launches);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    Run(argv + 1);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "programs_ranges: %s\n", error.what());
    return 1;
  }
}
