// How inputs may come: packed, through a pipe, as JSON records, as a timeline of parse's own; and
// what is said of those that are nothing of the kind, and on terminals.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/network_run.h"
#include "test/support/running_program.h"
#include "test/support/test_files.h"

namespace oplens::test::inputs_test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A pipe that has a name, and a writer.
class Pipe {
 public:
  explicit Pipe(const fs::path& path) {
    if (::mkfifo(path.c_str(), 0600) == 0) end_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(end_, 0) << path;
  }
  ~Pipe() { ::close(end_); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(end_, bytes.data(), bytes.size());
      ASSERT_GT(n, 0);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  /// Bytes that nobody has read yet.
  int Unread() const {
    int bytes = -1;
    ::ioctl(end_, FIONREAD, &bytes);
    return bytes;
  }

 private:
  int end_ = -1;
};

/// Whether the process has a file open that is, or was, in the folder.
bool HasOpenFileIn(pid_t process_id, const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process_id), error)) {
    const fs::path file = fs::read_symlink(entry.path(), error);
    if (!error && file.string().starts_with(folder.string() + "/")) return true;
  }
  return false;
}

template <typename Packer>
std::string Packed(const std::string& bytes) {
  std::istringstream in(bytes);
  std::ostringstream out;
  boost::iostreams::filtering_ostream packer;
  packer.push(Packer());
  packer.push(out);
  boost::iostreams::copy(in, packer);
  packer.reset();
  return out.str();
}

std::string Gzip(const std::string& bytes) {
  return Packed<boost::iostreams::gzip_compressor>(bytes);
}
std::string Zstd(const std::string& bytes) {
  return Packed<boost::iostreams::zstd_compressor>(bytes);
}

class InputsTest : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, dir_ / "net.sql");
    WriteNsysRun(run, dir_ / "net.sqlite");
    WriteKinetoRun(run, dir_ / "net.json");
    for (const auto& [format, name] : {std::pair("dict", "net.dict"), {"jsonl", "net.jsonl"}}) {
      const RunResult result = RunParse({"--format", format, Path("net.sql"), "-o", Path(name)});
      EXPECT_EQ(result.exit_code, 0) << result.err;
    }
  }

  std::string Path(const std::string& name) const { return (dir_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    WriteFile(dir_ / name, bytes);
    return Path(name);
  }
  /// All columns of all kernels.
  static std::string Table(const std::vector<std::string>& inputs, const RunOptions& options = {}) {
    std::vector<std::string> arguments = {"--csv", "-c", "all"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    const RunResult result = RunProf(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  RunResult Shell(const std::string& script) const {
    return RunProgram({"/bin/bash", "-c", script, "sh", Program("prof"), Program("parse")},
                      {.directory = dir_});
  }

  fs::path dir_ = TestDir();
};

TEST_F(InputsTest, PackingAndPipesChangeNothing) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json", "net.dict", "net.jsonl"}) {
    const std::string expected = Table({Path(name)});
    EXPECT_THAT(expected, Not(IsEmpty()));
    const std::string bytes = ReadFile(dir_ / name);
    // The content tells, not the name.
    for (const std::string& packed : {bytes, Gzip(bytes), Zstd(bytes)}) {
      const std::string path = Write("input", packed);
      EXPECT_EQ(Table({path}), expected) << name;
      EXPECT_EQ(Table({"-"}, {.stdin_path = path}), expected) << name;
      EXPECT_EQ(Table({}, {.stdin_path = path}), expected) << name;
      const RunResult piped = Shell("cat input | \"$1\" --quiet --csv -c all");
      EXPECT_EQ(piped.out, expected) << name << piped.err;
    }
  }
}

TEST_F(InputsTest, JsonRecordsAreRecords) {
  EXPECT_EQ(Table({Path("net.jsonl")}), Table({Path("net.dict")}));
  EXPECT_EQ(Table({Path("net.jsonl")}), Table({Path("net.sql")}));
}

TEST_F(InputsTest, ParseTakesThemToo) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json"}) {
    const std::string expected = RunParse({Path(name)}).out;
    const std::string packed = Write("input", Gzip(ReadFile(dir_ / name)));
    EXPECT_EQ(RunParse({packed}).out, expected);
    EXPECT_EQ(RunParse({"-"}, {.stdin_path = packed}).out, expected);
    EXPECT_EQ(Shell("cat input | \"$2\" --quiet -").out, expected);
  }
  EXPECT_EQ(RunParse({"-", Path("net.sql")}).exit_code, 2);
}

TEST_F(InputsTest, SeveralPipesAreSeveralInputs) {
  const RunResult result = Shell(
      "\"$1\" --quiet --csv -c rank <(cat net.sql) <(gzip -c net.json) net.dict | sort -u | wc -l");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "4\n");  // The header, two files in /dev/fd, and records without a rank.
}

TEST_F(InputsTest, NothingIsLeftOfAnUnpackedDatabase) {
  const fs::path temporary = dir_ / "tmp";
  fs::create_directory(temporary);
  const std::string packed = Write("net.sql.gz", Gzip(ReadFile(dir_ / "net.sql")));
  const RunOptions options = {.environment = {"TMPDIR=" + temporary.string()}};
  EXPECT_EQ(Table({packed}, options), Table({Path("net.sql")}));
  EXPECT_THAT(FilesIn(temporary), IsEmpty());
  // Killed in the middle: the pipe brings the first half, more than is read at once, and never
  // ends.
  std::string large = ReadFile(dir_ / "net.sql");
  std::minstd_rand random;
  while (large.size() < (size_t{2} << 20)) large += static_cast<char>(random() >> 8);
  const std::string first = Gzip(large).substr(0, size_t{1} << 20);
  const Pipe pipe(dir_ / "pipe");
  const RunningProgram prof(
      {"/bin/bash", "-c", "TMPDIR=tmp exec \"$1\" < pipe", "sh", Program("prof")}, dir_);
  pipe.Write(first);
  ASSERT_TRUE(Await([&] { return HasOpenFileIn(prof.process_id(), fs::canonical(temporary)); }));
  prof.Kill();
  EXPECT_THAT(FilesIn(temporary), IsEmpty());
}

TEST_F(InputsTest, ADatabaseThatIsCutWhilePackedIsRefused) {
  std::string packed = Gzip(ReadFile(dir_ / "net.sql"));
  packed.resize(packed.size() / 2);
  for (const RunResult& result :
       {RunProf({Write("net.sql.gz", packed)}), RunParse({Path("net.sql.gz")})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(LineCount(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("ends early"));
  }
}

TEST_F(InputsTest, RecordsThatAreCutWhilePackedAreCountedAsDamage) {
  std::string records;
  while (records.size() < (size_t{4} << 20)) records += ReadFile(dir_ / "net.dict");
  std::string packed = Gzip(records);
  packed.resize(packed.size() / 2);
  const RunResult result = RunProf({"--strict", Write("net.dict.gz", packed)});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("the gzip data ends early"));
}

TEST_F(InputsTest, WhatFollowsAProfileIsCountedAndSaid) {
  for (const char* name : {"net.json", "net.sql", "net.sqlite"}) {
    const std::string bytes = ReadFile(dir_ / name);
    const std::string whole = Table({Path(name)});
    const std::string junk(5000, 'x');
    // As files are joined by mistake, and packed with `cat a.gz b.gz`.
    for (const std::string& content : {bytes + bytes, bytes + junk, Gzip(bytes) + Gzip(bytes),
                                       Gzip(bytes) + junk, Zstd(bytes) + Zstd(bytes)}) {
      const std::string path = Write(std::string("two.") + name, content);
      EXPECT_EQ(Table({path}), whole) << name;
      for (const RunResult& result : {RunProf({"--strict", path}), RunParse({"--strict", path}),
                                      RunProf({"--strict", "--view", "gpu", path})}) {
        EXPECT_EQ(result.exit_code, 3) << name;
        EXPECT_EQ(CountedReason(result, "trailing-data"), 1) << result.err;
        EXPECT_THAT(result.err, HasSubstr("goes on behind its end"));
      }
    }
    const std::string padding(5000, '\0');
    for (const std::string& content : {bytes + padding, Gzip(bytes + padding)}) {
      const RunResult result = RunProf({Write(std::string("padded.") + name, content)});
      EXPECT_EQ(CountedReason(result, "trailing-data"), 0) << name << result.err;
    }
  }
}

TEST_F(InputsTest, APackedDatabaseOfAnySizeIsRead) {
  // Padded to sizes around those of the buffers that unpack it.
  std::string bytes = ReadFile(dir_ / "net.sql");
  const std::string whole = Table({Path("net.sql")});
  for (const size_t size : {size_t{1} << 20, (size_t{1} << 20) - 1, (size_t{1} << 20) + 1}) {
    ASSERT_LT(bytes.size(), size);
    std::string padded = bytes;
    padded.resize(size, '\0');
    EXPECT_EQ(Table({Write("padded.sql.zst", Zstd(padded))}), whole) << size;
    EXPECT_EQ(Table({Write("padded.sql.gz", Gzip(padded))}), whole) << size;
  }
}

TEST_F(InputsTest, APackedDatabaseTakesNoMoreThanItMay) {
  // A header that promises 65536 pages of 65536 bytes.
  std::string bytes = ReadFile(dir_ / "net.sql").substr(0, 4096);
  bytes.replace(16, 2, std::string("\x00\x01", 2));
  bytes.replace(28, 4, std::string("\x00\x01\x00\x00", 4));
  bytes.replace(92, 4, bytes.substr(24, 4));
  const RunResult bomb = RunProf({Write("bomb.sql.zst", Zstd(bytes + std::string(1 << 20, '\0')))});
  EXPECT_EQ(bomb.exit_code, 1);
  EXPECT_EQ(LineCount(bomb.err), 1) << bomb.err;
  EXPECT_THAT(bomb.err, HasSubstr("unpacks to more than 256 MB, and to over 200 times its size"));
  EXPECT_THAT(bomb.err, HasSubstr("OPLENS_UNPACK_LIMIT=16G"));

  // One that promises nothing.
  bytes = ReadFile(dir_ / "net.sql");
  bytes.replace(92, 4, std::string("\x7f\x7f\x7f\x7f", 4));
  bytes.resize(size_t{8} << 20, '\0');
  const std::string path = Write("untold.sql.gz", Gzip(bytes));
  const auto run = [&](const std::string& limit) {
    return RunProf({path}, {.environment = {"OPLENS_UNPACK_LIMIT=" + limit}});
  };
  EXPECT_THAT(run("2M").err,
              HasSubstr("unpacks to more than the 2 MB that OPLENS_UNPACK_LIMIT says"));
  EXPECT_EQ(run("2M").exit_code, 1);
  EXPECT_EQ(run("9MB").exit_code, 0) << run("9MB").err;
  EXPECT_EQ(run("").exit_code, 0);
  EXPECT_EQ(run("much").exit_code, 2);
}

TEST_F(InputsTest, ATimelineOfParseIsATrace) {
  ASSERT_EQ(RunParse({"--format", "chrome", Path("net.sql"), "-o", Path("line.json")}).exit_code,
            0);
  const RunResult from_line =
      RunProf({"--csv", "-c", "kernel,op,layer,params,sil,flops,bytes", Path("line.json")});
  const RunResult direct =
      RunProf({"--csv", "-c", "kernel,op,layer,params,sil,flops,bytes", Path("net.sql")});
  EXPECT_EQ(from_line.out, direct.out);
  EXPECT_THAT(from_line.err, Not(HasSubstr("are not read")));
}

TEST_F(InputsTest, CheckTellsOfEachFile) {
  const std::string bad = Write("bad", "nothing");
  const RunResult result = RunParse({"--check", Path("net.sql"), bad, Path("net.json")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith(Path("net.sql") + ": nvprof"));
  EXPECT_THAT(result.out, HasSubstr("\n" + bad + ": is not an SQLite database; "));
  EXPECT_THAT(result.out, HasSubstr("\n" + Path("net.json") + ": kineto"));
  EXPECT_THAT(result.err, HasSubstr("parse: " + bad + ": is not an SQLite database"));
  EXPECT_EQ(RunParse({"--check", bad}).exit_code, 1);
  EXPECT_EQ(RunParse({"--check", bad}).out, "");
}

TEST_F(InputsTest, EachForeignFileIsNamedWithWhatReadsIt) {
  const std::pair<std::string, const char*> cases[] = {
      {std::string("NVR\0rest", 8), "ncu --import"},
      {"\x80\x02}q\x01", "memory snapshot"},
      {"<!DOCTYPE html><html>", "open it in a browser"},
      {R"({"schema": "1.0.2-chakra.0.0.4", "pid": 3, "nodes": []})", "--execution-trace"},
      {R"({"schema":1,"idx":1})", "prof --json"},
      {"\"Idx\",\"Dir\"\n", "such as prof writes"},
      {"PAR1....", "nsys export --type sqlite"},
      {"BZh91AY", "bunzip2"},
  };
  for (const auto& [bytes, said] : cases) {
    for (const std::string& content : {bytes, Gzip(bytes)}) {
      const std::string path = Write("file", content);
      for (const RunResult& result : {RunProf({path}), RunParse({path})}) {
        EXPECT_EQ(result.exit_code, 1) << said;
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(LineCount(result.err), 1) << result.err;
        EXPECT_THAT(result.err, HasSubstr(said));
      }
    }
  }
}

TEST_F(InputsTest, APackedFileOfNothingSaysSo) {
  const std::string path = Write("empty.gz", Gzip(""));
  EXPECT_THAT(RunParse({path}).err, HasSubstr("is gzip data that unpacks to nothing; "));
  const RunResult prof = RunProf({path});
  EXPECT_EQ(prof.exit_code, 1);
  EXPECT_THAT(prof.err, HasSubstr("is empty"));
}

TEST_F(InputsTest, OnATerminalProfSaysWhatItWaitsFor) {
  const RunResult result =
      RunProgram({Program("prof")}, {.terminal_columns = 80, .terminal_stdin = true});
  EXPECT_EQ(result.err,
            "prof: waiting for a profile or records on standard input; to read a file: prof FILE\n"
            "prof: standard input is empty: there are no kernels to show\n");
}

TEST_F(InputsTest, OnATerminalALongRunSaysHowFarItIs) {
  using std::chrono::milliseconds;
  const std::string trace = ReadFile(dir_ / "net.json");
  // The rest of the trace comes when `ready`, which is asked with what was drawn.
  std::string drawn_so_far;
  std::mutex mutex;
  const auto run = [&](std::vector<std::string> options, int columns,
                       const std::function<bool(const std::string&)>& ready) {
    auto pipe = std::make_unique<Pipe>(dir_ / "pipe");
    pipe->Write(trace.substr(0, 6000));
    drawn_so_far.clear();
    std::thread rest([&] {
      Await([&] { return pipe->Unread() == 0; });
      Await([&] {
        const std::lock_guard lock(mutex);
        return ready(drawn_so_far);
      });
      pipe->Write(trace.substr(6000));
      pipe.reset();
    });
    options.insert(options.begin(), Program("prof"));
    const RunResult result = RunProgram(options, {.stdin_path = dir_ / "pipe",
                                                  .stdout_path = dir_ / "rows",
                                                  .terminal_columns = columns,
                                                  .on_err = [&](const std::string& err) {
                                                    const std::lock_guard lock(mutex);
                                                    drawn_so_far = err;
                                                  }});
    rest.join();
    fs::remove(dir_ / "pipe");
    return result;
  };
  // From one second on ten times a second at most.
  constexpr int kDrawn = 10;
  const auto began = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration taken{};
  const RunResult shown = run({}, 50, [&](const std::string& err) {
    taken = std::chrono::steady_clock::now() - began;
    return std::count(err.begin(), err.end(), '\r') >= kDrawn;
  });
  EXPECT_GE(taken, milliseconds(1000 + (kDrawn - 1) * 100));
  EXPECT_THAT(shown.err, StartsWith("\rprof: reading standard input: "));
  // Erased before the messages, and never wider than the terminal.
  const size_t last = shown.err.rfind('\r');
  EXPECT_THAT(shown.err.substr(last + 1), StartsWith("prof: "));
  EXPECT_THAT(shown.err.substr(0, last), EndsWith(" "));
  std::istringstream pieces(shown.err.substr(0, last));
  for (std::string piece; std::getline(pieces, piece, '\r');) EXPECT_LT(piece.size(), 50u);
  // Nothing tells of what is not drawn: it is given time.
  const auto wait = [](const std::string&) {
    std::this_thread::sleep_for(milliseconds(1500));
    return true;
  };
  EXPECT_EQ(run({"--quiet"}, 50, wait).err, "");
  EXPECT_THAT(run({}, 0, wait).err, Not(HasSubstr("\r")));
}

TEST_F(InputsTest, FewLinesAreSaidUnlessAllAreAskedFor) {
  const RunResult few = RunProgram({Program("prof"), "--csv", Path("net.sql")});
  const RunResult all = RunProgram({Program("prof"), "--csv", "-v", Path("net.sql")});
  EXPECT_EQ(few.out, all.out);
  EXPECT_LE(LineCount(few.err), 6);
  EXPECT_LT(LineCount(few.err), LineCount(all.err));
  std::istringstream lines(few.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  // Prices are no matter of a view without them.
  const RunResult idle = RunProgram({Program("prof"), "--view", "idle", "-v", Path("net.sql")});
  EXPECT_THAT(idle.err, Not(HasSubstr("FLOPs are known")));
  EXPECT_THAT(RunProgram({Program("prof"), "--view", "groups", "-v", Path("net.sql")}).err,
              HasSubstr("FLOPs are known"));
}

}  // namespace
}  // namespace oplens::test::inputs_test
