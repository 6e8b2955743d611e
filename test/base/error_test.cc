#include "base/error.h"

#include <gtest/gtest.h>

namespace oplens::error_test {
namespace {

TEST(Error, NamesFileProblemAndAdvice) {
  EXPECT_STREQ(Error("run.sql", "is a directory", "give a database").what(),
               "run.sql: is a directory; give a database");
}

TEST(Error, NamesTableAndRow) {
  EXPECT_STREQ(Error("run.sql", "MARKER", 18, "has no name", "record again").what(),
               "run.sql: table MARKER, row 18: has no name; record again");
  EXPECT_STREQ(Error("run.sql", "MARKER", -1, "has no column id", "record again").what(),
               "run.sql: table MARKER: has no column id; record again");
}

}  // namespace
}  // namespace oplens::error_test
