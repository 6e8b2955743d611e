#include "test/record/recording_fixture.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "test/support/nvtx_capture.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

/// The outline of one thread, while its markers are read.
struct ThreadOutline {
  std::string text;
  std::vector<int64_t> open;
  int64_t last_ns = 0;
};

std::vector<std::string> Sorted(const std::map<std::string, ThreadOutline>& threads) {
  std::vector<std::string> outlines;
  for (const auto& [id, thread] : threads) outlines.push_back(thread.text);
  std::sort(outlines.begin(), outlines.end());
  return outlines;
}

void AddMarker(int64_t flags, int64_t time_ns, int64_t id, const std::string& text,
               ThreadOutline* thread) {
  constexpr int64_t kStart = 2;
  constexpr int64_t kEnd = 4;
  EXPECT_GE(time_ns, thread->last_ns) << text;
  thread->last_ns = time_ns;
  if (flags == kStart) {
    thread->text += std::string(2 * thread->open.size(), ' ') + WithoutThreads(text) + '\n';
    thread->open.push_back(id);
  } else if (flags == kEnd) {
    ASSERT_FALSE(thread->open.empty()) << "an end without a start: " << id;
    EXPECT_EQ(thread->open.back(), id) << "ranges cross";
    thread->open.pop_back();
  }
}

}  // namespace

RunResult Record(const RecordRun& run) {
  std::vector<std::string> command = {"/usr/bin/env"};
  command.insert(command.end(), run.environment.begin(), run.environment.end());
  command.insert(command.end(), {Program("record"), "-f", "-o", run.database.string()});
  command.insert(command.end(), run.options.begin(), run.options.end());
  command.push_back("--");
  command.insert(command.end(), run.program.begin(), run.program.end());
  return RunProgram(command);
}

std::vector<std::string> FakeCuda() {
  return {"OPLENS_CUPTI=" + BuildFile("lib/fake_cuda/libcuda.so.1")};
}

std::vector<std::string> GpuProgram(const std::string& scenario) {
  return {Program("gpu_program"), scenario};
}

int64_t Number(const std::filesystem::path& database, const std::string& query) {
  SQLite::Database file(database.string());
  return file.execAndGet(query).getInt64();
}

std::string Text(const std::filesystem::path& database, const std::string& query) {
  SQLite::Database file(database.string());
  return file.execAndGet(query).getString();
}

std::vector<std::string> Outlines(const std::filesystem::path& database) {
  const SQLite::Database file(database.string());
  SQLite::Statement rows(file,
                         "SELECT flags, timestamp, id, hex(objectId), value FROM "
                         "CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON s._id_ = m.name "
                         "ORDER BY m._id_");
  std::map<std::string, ThreadOutline> threads;
  while (rows.executeStep()) {
    AddMarker(rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64(),
              rows.getColumn(2).getInt64(), rows.getColumn(4).getString(),
              &threads[rows.getColumn(3).getString()]);
  }
  for (const auto& [id, thread] : threads) EXPECT_TRUE(thread.open.empty()) << thread.text;
  return Sorted(threads);
}

std::vector<std::string> SeenOutlines(const std::vector<std::string>& program,
                                      const std::string& mode) {
  const std::filesystem::path capture_path = TestDir() / (mode + ".nvtx");
  std::vector<std::string> command = {
      "/usr/bin/env", "NVTX_INJECTION64_PATH=" + BuildFile("lib/liboplens_test_recorder.so"),
      "OPLENS_TEST_RECORDER=" + mode, "OPLENS_TEST_RECORDER_OUT=" + capture_path.string()};
  command.insert(command.end(), program.begin(), program.end());
  const RunResult run = RunProgram(command);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const NvtxRanges ranges = RangesOf(ReadCapture(capture_path), markers::Facts::kApart);
  EXPECT_TRUE(ranges.faults.empty()) << ranges.faults.front();
  std::map<std::string, ThreadOutline> threads;
  std::vector<size_t> depths(ranges.ranges.size(), 0);
  for (size_t i = 0; i < ranges.ranges.size(); ++i) {
    const NvtxRange& range = ranges.ranges[i];
    if (range.parent >= 0) depths[i] = depths[static_cast<size_t>(range.parent)] + 1;
    threads[std::to_string(range.thread_id)].text +=
        std::string(2 * depths[i], ' ') + WithoutThreads(range.text) + '\n';
  }
  return Sorted(threads);
}

std::string WithoutThreads(std::string text) {
  static const RE2 kThread("('f?tid': )[0-9]+");
  RE2::GlobalReplace(&text, kThread, "\\1T");
  return text;
}

}  // namespace oplens::test
