#include "record/spool_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "record/inject/mapped_file.h"
#include "record/spool/spool_format.h"
#include "record/spool_folder.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::record::spool_lock_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path Output() { return test::TestDir() / "net.sql"; }

template <typename Action>
std::string Refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The process's number says nothing here, since it is of another container.
TEST(SpoolLock, OfAMappedPageKeepsTheSpool) {
  if (!test::KeepsLocksOfMappings(test::TestDir())) GTEST_SKIP() << "overlayfs";
  const fs::path spool = SpoolFolder::PathFor(Output());
  const fs::path page = test::MakeSpoolImage(spool, 4711, Output(),
                                             [](spool::ProcessPage* facts) {
                                               facts->state = spool::ProcessState::kRunning;
                                               facts->pid_namespace = facts->start_ticks = 1;
                                             }) /
                        "process";
  const std::string bytes = test::ReadFile(page);
  fs::remove(page);
  void* const mapped = inject::MakeMappedFile(page.c_str(), spool::kProcessPageBytes,
                                              inject::FileLock::kWhileMapped);
  ASSERT_NE(mapped, nullptr);
  std::memcpy(mapped, bytes.data(), bytes.size());
  EXPECT_THAT(Refusal([&] { SpoolFolder::Take(spool); }),
              HasSubstr("process 4711 (its number in its container) still runs"));
  EXPECT_THAT(Refusal([] { SpoolFolder::Create(Output(), true); }), HasSubstr("still runs"));
  ::munmap(mapped, spool::kProcessPageBytes);
  EXPECT_FALSE(IsLocked(page));
  SpoolFolder::Take(spool);
}

TEST(SpoolLock, GoesLast) {
  const fs::path spool = SpoolFolder::PathFor(Output());
  fs::create_directories(spool / "4711.0");
  {
    const SpoolLock lock(spool);
    EXPECT_THAT(Refusal([&] { SpoolLock{spool}; }), HasSubstr("belongs to a recording that still"));
    lock.Remove();
  }
  EXPECT_FALSE(fs::exists(spool));
  EXPECT_THAT(Refusal([&] { SpoolLock{spool}; }), HasSubstr("cannot be locked"));
}

}  // namespace
}  // namespace oplens::record::spool_lock_test
