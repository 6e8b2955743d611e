#include "test/annotate/annotate_fixture.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "nvtx_annotate/annotate.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

// NVTX looks for its tool once, at the first call.
[[maybe_unused]] const bool g_tool_is_set = [] {
  setenv("NVTX_INJECTION64_PATH", BuildFile("lib/liboplens_test_recorder.so").c_str(), 1);
  setenv("OPLENS_TEST_RECORDER", "payload", 0);
  // Tests with another tool may run beside these.
  setenv("OPLENS_TEST_VARIANT", std::getenv("OPLENS_TEST_RECORDER"), 1);
  unsetenv("OPLENS_ANNOTATE");
  return true;
}();

void Replace(const std::string& what, const std::string& by, std::string* text) {
  for (size_t at = text->find(what); at != text->npos; at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

}  // namespace

std::string RecorderMode() {
  const char* const mode = std::getenv("OPLENS_TEST_RECORDER");
  return mode == nullptr ? "payload" : mode;
}

void* RecorderFunction(const char* name) {
  static void* const library =
      dlopen(BuildFile("lib/liboplens_test_recorder.so").c_str(), RTLD_LAZY);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(dlerror());
  return function;
}

std::vector<std::string> WithoutThreadIds(std::vector<std::string> lines,
                                          const std::vector<int64_t>& threads) {
  for (std::string& line : lines) {
    for (size_t i = 0; i < threads.size(); ++i) {
      Replace(fmt::format("tid': {},", threads[i]), fmt::format("tid': T{},", i + 1), &line);
    }
  }
  return lines;
}

void AnnotateTest::SetUp() {
  annotate::Start();
  RecorderCall<void()>("oplens_test_recorder_clear")();
}

NvtxCapture AnnotateTest::Capture() {
  const std::filesystem::path path = TestDir() / "capture.nvtx";
  const int error = RecorderCall<int(const char*)>("oplens_test_recorder_write")(path.c_str());
  if (error != 0) throw std::runtime_error("the capture cannot be written");
  return ReadCapture(path);
}

NvtxRanges AnnotateTest::Emit(const std::function<void()>& emit) {
  int64_t thread_id = 0;
  RecorderCall<void()>("oplens_test_recorder_clear")();
  std::thread([&] {
    thread_id = syscall(SYS_gettid);
    emit();
  }).join();
  NvtxCapture capture = Capture();
  std::erase_if(capture.events,
                [&](const NvtxEvent& event) { return event.thread_id != thread_id; });
  NvtxRanges ranges = RangesOf(capture);
  EXPECT_EQ(ranges.faults, std::vector<std::string>());
  return ranges;
}

std::vector<std::string> AnnotateTest::EmitOutline(const std::function<void()>& emit) {
  const NvtxRanges ranges = Emit(emit);
  if (ranges.ranges.empty()) return {};
  return WithoutThreadIds(Outline(ranges), {ranges.ranges[0].thread_id});
}

std::string AnnotateTest::EmitOp(const std::function<void()>& emit) {
  std::vector<std::string> calls;
  for (const NvtxRange& range : Emit(emit).ranges) {
    if (range.text.starts_with("{'mod': ")) calls.push_back(range.text);
  }
  EXPECT_EQ(calls.size(), 1U);
  return calls.empty() ? "" : calls[0];
}

std::string OpDict(const std::string& mod, const std::string& op, const std::string& args) {
  return fmt::format(
      "{{'mod': '{}', 'op': '{}', 'args': [{}], 'oplens': {{'v': 1, 'type': 'op', 'seq': -1, "
      "'tid': T1, 'ftid': 0, 'dir': 'f'}}}}",
      mod, op, args);
}

std::string RunAnnotatedProgram(const std::string& command, const std::string& mode,
                                const std::filesystem::path& capture) {
  std::vector<std::string> line = {"/usr/bin/env", "-u", "NVTX_INJECTION64_PATH"};
  if (!mode.empty()) {
    line.push_back("NVTX_INJECTION64_PATH=" + BuildFile("lib/liboplens_test_recorder.so"));
    line.push_back("OPLENS_TEST_RECORDER=" + mode);
    line.push_back("OPLENS_TEST_RECORDER_OUT=" + capture.string());
  }
  line.insert(line.end(), {Program("annotated_program"), command});
  const RunResult result = RunProgram(line);
  EXPECT_EQ(result.exit_code, 0) << command << ": " << result.out << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

}  // namespace oplens::test
