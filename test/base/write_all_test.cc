#include "base/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

namespace oplens::write_all_test {
namespace {

TEST(WriteAllTest, MoreThanAPipeHolds) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::string sent;
  for (int i = 0; i < 300'000; ++i) sent.push_back(static_cast<char>(i));
  std::string got;
  std::thread reader([&] {
    char part[4096];
    for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;) {
      got.append(part, static_cast<size_t>(n));
    }
  });
  EXPECT_TRUE(WriteAll(ends[1], sent));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(got, sent);
}

TEST(WriteAllTest, SaysWhyItFails) {
  EXPECT_FALSE(WriteAll(-1, "x"));
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(WriteAll(-1, "")) << "nothing to write";
}

}  // namespace
}  // namespace oplens::write_all_test
