// programs_ranges CAPTURE RANGES DATABASE: what the test recorder saw, for the checks of programs.
//
// RANGES becomes a file with a line of JSON for each mark, {"time":N,"mark":TEXT}, then for each
// range, a thread after the other, outer ones before those in them:
// {"at":N,"parent":N,"tid":N,"start":N,"end":N,"text":TEXT}, parent -1 for none; then
// {"faults":[TEXT,..]}. DATABASE becomes a profile in which every op and node that holds no other
// has launched a kernel, named "h" and the number of the call.
//
// programs_ranges --split CAPTURE MARKED EMITTED: two profiles of a run inside of emit_nvtx, MARKED
// without its ranges, EMITTED with no others. In both every call that both have has launched a
// kernel, so named, unless its range of emit_nvtx holds others.
//
// programs_ranges --products CAPTURE DATABASE: a profile in which every product of matrices and
// convolution that is in no other has launched a kernel, so named.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/nvtx_capture.h"

namespace {

using oplens::test::NvtxCapture;
using oplens::test::NvtxEvent;
using oplens::test::NvtxRange;
using oplens::test::NvtxRanges;

/// The number behind a key in a text; "" where it has none.
std::string NumberBehind(std::string_view key, const std::string& text) {
  const size_t at = text.rfind(key);
  if (at == text.npos) return "";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
}

/// The number of a call in a text of the adaptor, and in one of emit_nvtx.
std::string Handle(const std::string& text) { return NumberBehind("'h': ", text); }
std::string EmittedHandle(const std::string& text) { return NumberBehind(", op_id = ", text); }

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

/// The ranges of a kind alone.
NvtxRanges Only(const NvtxRanges& ranges, const std::function<bool(const NvtxRange&)>& kept) {
  NvtxRanges result;
  std::vector<int64_t> places;  // By index into `ranges`: of the range, or of what is around it.
  for (const NvtxRange& range : ranges.ranges) {
    const int64_t parent = range.parent < 0 ? -1 : places[static_cast<size_t>(range.parent)];
    if (!kept(range)) {
      places.push_back(parent);
      continue;
    }
    places.push_back(static_cast<int64_t>(result.ranges.size()));
    result.ranges.push_back(range);
    result.ranges.back().parent = parent;
  }
  return result;
}

/// The numbers of the calls whose ranges hold no other.
std::set<std::string> Innermost(const NvtxRanges& emitted) {
  std::vector<bool> holds(emitted.ranges.size(), false);
  for (const NvtxRange& range : emitted.ranges) {
    if (range.parent >= 0) holds[static_cast<size_t>(range.parent)] = true;
  }
  std::set<std::string> handles;
  for (size_t i = 0; i < holds.size(); ++i) {
    if (!holds[i]) handles.insert(EmittedHandle(emitted.ranges[i].text));
  }
  return handles;
}

void Split(char** paths) {
  const NvtxCapture capture = oplens::test::ReadCapture(paths[0]);
  const NvtxRanges all = oplens::test::RangesOf(capture);
  const auto is_emitted = [](const NvtxRange& range) { return !EmittedHandle(range.text).empty(); };
  const NvtxRanges emitted = Only(all, is_emitted);
  const NvtxRanges marked = Only(all, [&](const NvtxRange& range) { return !is_emitted(range); });
  const std::set<std::string> innermost = Innermost(emitted);
  std::set<std::string> handles;  // Of calls that both have.
  for (const NvtxRange& range : marked.ranges) {
    const std::string handle = Handle(range.text);
    if (innermost.count(handle) > 0) handles.insert("h" + handle);
  }
  const auto write = [&](const NvtxRanges& ranges, auto handle_of, const char* path) {
    const auto name_of = [&](const NvtxRange& range) { return "h" + handle_of(range.text); };
    oplens::test::CaptureLaunches launches;
    launches.chooses = [&](const NvtxRange& range) { return handles.count(name_of(range)) > 0; };
    launches.kernel = [&](const NvtxRange& range) {
      return oplens::test::KernelSpec{.name = name_of(range)};
    };
    std::filesystem::remove(path);
    oplens::test::WriteNvprofCapture(ranges, capture.process_id, path, launches);
  };
  write(marked, Handle, paths[1]);
  write(emitted, EmittedHandle, paths[2]);
}

/// Whether a range is that of a product or convolution, as PyTorch names it.
bool IsProduct(const NvtxRange& range) {
  static constexpr std::string_view kProducts[] = {
      "mm",
      "bmm",
      "addmm",
      "baddbmm",
      "addbmm",
      "mv",
      "dot",
      "_grouped_mm",
      "convolution",
      "convolution_backward",
      "_scaled_dot_product_flash_attention_for_cpu",
      "_scaled_dot_product_flash_attention_for_cpu_backward"};
  static constexpr std::string_view kKey = "'aten': 'aten::";
  const size_t key = range.text.rfind(kKey);
  if (key == range.text.npos) return false;
  const size_t begin = key + kKey.size();
  const std::string name = range.text.substr(begin, range.text.find_first_of(".'", begin) - begin);
  return std::find(std::begin(kProducts), std::end(kProducts), name) != std::end(kProducts);
}

void Products(char** paths) {
  const NvtxCapture capture = oplens::test::ReadCapture(paths[0]);
  const NvtxRanges ranges = oplens::test::RangesOf(capture);
  std::set<std::string> chosen;  // Handles.
  std::vector<bool> inside;      // By index: a product, or in one.
  for (const NvtxRange& range : ranges.ranges) {
    const bool outer = range.parent >= 0 && inside[static_cast<size_t>(range.parent)];
    const bool is_product = IsProduct(range);
    if (is_product && !outer) chosen.insert(Handle(range.text));
    inside.push_back(outer || is_product);
  }
  std::filesystem::remove(paths[1]);
  oplens::test::CaptureLaunches launches;
  launches.chooses = [&](const NvtxRange& range) {
    return IsProduct(range) && chosen.count(Handle(range.text)) > 0;
  };
  launches.kernel = [](const NvtxRange& range) {
    return oplens::test::KernelSpec{.name = "h" + Handle(range.text)};
  };
  oplens::test::WriteNvprofCapture(ranges, capture.process_id, paths[1], launches);
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
  const bool split = argc == 5 && std::string(argv[1]) == "--split";
  const bool products = argc == 4 && std::string(argv[1]) == "--products";
  if (argc != 4 && !split) return 2;
  try {
    if (split) {
      Split(argv + 2);
    } else if (products) {
      Products(argv + 2);
    } else {
      Run(argv + 1);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "programs_ranges: %s\n", error.what());
    return 1;
  }
}
