// oplens mcp: a server of the Model Context Protocol, for agents that ask about profiles.

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/output.h"
#include "base/program.h"
#include "base/program_text.h"
#include "base/size_text.h"
#include "mcp/opened_runs.h"
#include "mcp/protocol/transport.h"
#include "mcp/roots.h"
#include "mcp/tools.h"

namespace oplens::mcp {
namespace {

constexpr char kServerOptions[] = "Limits";

struct Options {
  std::string message;  ///< For -h and --version: print this and exit.
  std::vector<std::string> roots = {"."};
  int64_t most_file_bytes = 4'000'000'000;
  int64_t most_memory_bytes = 8'000'000'000;
};

ProgramText TextOfServer() {
  return {
      .name = "oplens mcp",
      .summary = "answer agents about profiles, by the Model Context Protocol",
      .synopsis = {"[OPTIONS]"},
      .groups = {kServerOptions, kHelpOptions},
      .description =
          {"A client starts this program and speaks to it on standard input and output, a message "
           "a line (docs/agents.md has configurations). The tools open, view, kernel, diff and sql "
           "answer in a bounded number of tokens; each answer says the command line that shows the "
           "same.",
           "It reads profiles below the folders of --root, and writes nothing but a temporary "
           "database for sql."},
      .examples = {{"oplens mcp --root /data/profiles", "serve the profiles below a folder"}},
      .exit_codes = {{"0", "the client is gone"},
                     {"1", "the server could not begin"},
                     {"2", "wrong usage"}},
      .environment = {{"TMPDIR", "where databases for sql are made"}},
      .see_also = {"oplens", "prof"},
  };
}

int64_t ReadSize(const cxxopts::ParseResult& given, const std::string& option, int64_t usual) {
  if (given.count(option) == 0) return usual;
  const std::optional<int64_t> size = ReadSizeText(given[option].as<std::string>());
  if (!size) throw UsageError("--" + option + ": a size such as 500MB or 4G");
  return *size;
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfServer(), declared, given)) {
    options.message = *std::move(message);
    return options;
  }
  if (given.count("root") > 0) options.roots = given["root"].as<std::vector<std::string>>();
  options.most_file_bytes = ReadSize(given, "max-file", options.most_file_bytes);
  options.most_memory_bytes = ReadSize(given, "max-memory", options.most_memory_bytes);
  return options;
}

Options ParseServerOptions(int argc, const char* const* argv) {
  cxxopts::Options declared("oplens mcp");
  cxxopts::OptionAdder add = declared.add_options(kServerOptions);
  add("root", "Read only below this folder (default: the current one); may be given several times",
      cxxopts::value<std::vector<std::string>>(), "FOLDER");
  add("max-file", "Refuse inputs with more bytes than this (default: 4G)",
      cxxopts::value<std::string>(), "SIZE");
  add("max-memory", "Forget opened runs beyond this much memory (default: 8G)",
      cxxopts::value<std::string>(), "SIZE");
  AddHelpOptions(&declared);
  Options options;
  ReadCommandLine(&declared, argc, argv, "oplens help mcp lists the options",
                  [&](const auto& given) { options = Read(declared, given); });
  return options;
}

int Main(const Options& options) {
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  GiveBackWhatIsFreed();
  OpenedRuns runs(Roots(options.roots, options.most_file_bytes), options.most_memory_bytes);
  Tools tools(&runs);
  Serve(STDIN_FILENO, STDOUT_FILENO, {"oplens", "oplens", OPLENS_VERSION, Instructions()}, &tools);
  return kExitOk;
}

}  // namespace

int RunMcp(int argc, char** argv) {
  return RunProgram("oplens mcp", [&] { return Main(ParseServerOptions(argc, argv)); });
}

}  // namespace oplens::mcp
