#ifndef OPLENS_TEST_SUPPORT_TEST_FILES_H_
#define OPLENS_TEST_SUPPORT_TEST_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

namespace oplens::test {

/// A folder of test data that lies outside the project. Its place comes from the environment
/// variable (OPLENS_CORPUS_DIR, OPLENS_SPECS_DIR), else from the CMake option of the same name.
struct DataDir {
  enum class State {
    kUnset,    ///< Neither is set, or both are empty: tests are skipped.
    kMissing,  ///< A place is named but there is no such folder: tests fail.
    kThere,
  };
  State state = State::kUnset;
  std::filesystem::path path;
  std::string message;  ///< Why it cannot be used, for the test's output.
};

DataDir CorpusDir();
DataDir SpecsDir();

/// The corpus file `name` ("nvprof/lm.sql", without ".gz"), unpacked once into the build folder.
/// Throws std::runtime_error when the corpus does not have it.
std::filesystem::path CorpusFile(const std::string& name);

/// Folders of this build, without a "/" at the end: the sources of the project, its programs, and
/// what tests write.
std::string SourceDir();
std::string ProgramDir();
std::string TestTmp();

/// Path of a file in the build folder: "lib/liboplens_record.so". Tests take paths from here and
/// from the functions above, never from a definition of their target: so only one file is compiled
/// with them, and copies of the project in several folders share what a compiler cache holds.
std::string BuildFile(const std::string& name);

/// Path of one of this build's programs: "parse", "prof".
std::string Program(const std::string& name);

/// The whole content of a file. Throws std::runtime_error when it cannot be read.
std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, const std::string& content);

/// Names of what a folder holds, sorted.
std::vector<std::string> FilesIn(const std::filesystem::path& folder);

/// Whether the file system keeps the lock of a file that is mapped and no longer open. Overlayfs
/// does not.
bool KeepsLocksOfMappings(const std::filesystem::path& folder);

/// A folder of the running test inside the build folder, empty at the first call of each test.
std::filesystem::path TestDir();

}  // namespace oplens::test

/// Skips the running test when the corpus is not set, and fails it when it is set but missing. Use
/// at the top of a test body or in SetUp.
#define OPLENS_NEED_DATA_DIR(function)                                                      \
  do {                                                                                      \
    const ::oplens::test::DataDir dir = function();                                         \
    if (dir.state == ::oplens::test::DataDir::State::kUnset) GTEST_SKIP() << dir.message;   \
    if (dir.state == ::oplens::test::DataDir::State::kMissing) GTEST_FAIL() << dir.message; \
  } while (false)
#define OPLENS_NEED_CORPUS() OPLENS_NEED_DATA_DIR(::oplens::test::CorpusDir)
#define OPLENS_NEED_SPECS() OPLENS_NEED_DATA_DIR(::oplens::test::SpecsDir)

#endif  // OPLENS_TEST_SUPPORT_TEST_FILES_H_
