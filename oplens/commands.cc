#include "oplens/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/append_format.h"
#include "base/near_words.h"

namespace oplens::screen {
namespace {

constexpr Command kCommands[] = {
    {"record", "record", {}, "[-o FILE] -- PROGRAM", "run a program and record what its GPUs do"},
    {"parse", "parse", {}, "FILE", "one record a kernel: which op launched it"},
    {"prof",
     "prof",
     {},
     "FILE...",
     "tables: of kernels, of groups (--by), and views (--view list)"},
    {"report", "report", {}, "FILE...", "all tables and a timeline, as a page for the browser"},
    {"diff", "prof", "--diff", "BASE NEW...", "what changed between two runs, and why"},
    {"check", "prof", "--check", "FILE...",
     "what is known of how many kernels, and why not of all"},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

const Command* FindCommand(std::string_view word) {
  const auto* const found = std::ranges::find(kCommands, word, &Command::word);
  return found == std::end(kCommands) ? nullptr : found;
}

std::string_view NearCommand(std::string_view word) {
  std::vector<std::string_view> words = {"help"};
  for (const Command& command : kCommands) words.push_back(command.word);
  const std::vector<std::string_view> near = NearNames(word, words);
  return near.empty() ? std::string_view() : near.front();
}

std::string ListOfCommands() {
  constexpr size_t kWords = 37;
  std::string text = "oplens says which op launched each GPU kernel, and how much work it was.\n\n";
  const auto add = [&](std::string_view command, std::string_view help) {
    AppendFormat(&text, "  {:<{}}{}\n", fmt::format("oplens {}", command), kWords, help);
  };
  add("FILE...", "a run on one screen, from nvprof, Nsight Systems or PyTorch");
  for (const Command& command : kCommands) {
    add(fmt::format("{} {}", command.word, command.arguments), command.help);
  }
  add("help COMMAND", "the options of a command; oplens -h: of the screen");
  return text;
}

std::string RunCommand(const Command& command, const std::vector<std::string>& arguments) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return fmt::format("cannot tell where its programs are: {}", failed.message());
  const std::string program =
      (self.parent_path() / fmt::format("{}{}", OPLENS_PREFIX, command.program)).string();
  std::vector<std::string> words = {program};
  if (!command.option.empty()) words.emplace_back(command.option);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return fmt::format("{}: cannot be run: {}; install all programs of oplens in one folder", program,
                     std::generic_category().message(errno));
}

}  // namespace oplens::screen
