#include "test/support/test_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace oplens::test {
namespace {

namespace fs = std::filesystem;

DataDir FindDataDir(const char* variable, const char* configured) {
  const char* from_environment = std::getenv(variable);
  const std::string place = from_environment != nullptr ? from_environment : configured;
  if (place.empty()) {
    return {DataDir::State::kUnset, {}, fmt::format("{} is not set", variable)};
  }
  if (!fs::is_directory(place)) {
    return {DataDir::State::kMissing, place,
            fmt::format("{} is '{}', which is not a folder", variable, place)};
  }
  return {DataDir::State::kThere, place, {}};
}

// Written under another name first: tests run side by side and must not see half a file.
void Unpack(const fs::path& packed, const fs::path& target) {
  fs::create_directories(target.parent_path());
  const fs::path partial = fmt::format("{}.{}", target.string(), ::getpid());
  {
    std::ifstream file(packed, std::ios::binary);
    boost::iostreams::filtering_istreambuf unpacked;
    unpacked.push(boost::iostreams::gzip_decompressor());
    unpacked.push(file);
    std::ofstream out(partial, std::ios::binary);
    boost::iostreams::copy(unpacked, out);
  }
  fs::rename(partial, target);
}

}  // namespace

DataDir CorpusDir() { return FindDataDir("OPLENS_CORPUS_DIR", OPLENS_CORPUS_DIR); }
DataDir SpecsDir() { return FindDataDir("OPLENS_SPECS_DIR", OPLENS_SPECS_DIR); }

fs::path CorpusFile(const std::string& name) {
  const fs::path packed = CorpusDir().path / (name + ".gz");
  if (!fs::exists(packed)) {
    throw std::runtime_error(fmt::format("the corpus has no {}", packed.string()));
  }
  const fs::path target = fs::path(TestTmp()) / "corpus" / name;
  const bool current =
      fs::exists(target) && fs::last_write_time(target) >= fs::last_write_time(packed);
  if (!current) Unpack(packed, target);
  return target;
}

std::string SourceDir() { return OPLENS_SOURCE_DIR; }
std::string ProgramDir() { return OPLENS_BIN_DIR; }
std::string TestTmp() { return OPLENS_TEST_TMP; }
std::string BuildFile(const std::string& name) { return OPLENS_BUILD_DIR "/" + name; }

std::string Program(const std::string& name) { return ProgramDir() + "/" + name; }

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

bool KeepsLocksOfMappings(const fs::path& folder) {
  struct statfs facts {};
  return ::statfs(folder.c_str(), &facts) == 0 && facts.f_type != OVERLAYFS_SUPER_MAGIC;
}

std::vector<std::string> FilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path TestDir() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = fmt::format("{}.{}", test->test_suite_name(), test->name());
  // The same tests may run side by side in several variants.
  if (const char* variant = std::getenv("OPLENS_TEST_VARIANT")) name += fmt::format(".{}", variant);
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  const fs::path dir = fs::path(TestTmp()) / "dirs" / name;
  static fs::path current;
  if (dir != current) {
    fs::remove_all(dir);
    fs::create_directories(dir);
    current = dir;
  }
  return dir;
}

}  // namespace oplens::test
