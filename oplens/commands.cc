#include "oplens/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/append_format.h"
#include "base/near_words.h"
#include "base/program.h"
#include "prof/commands.h"

namespace oplens::screen {
namespace {

std::vector<Command> MakeCommands() {
  std::vector<Command> commands = {
      {"record", "[-o FILE] -- PROGRAM", "run a program and record what its GPUs do",
       record::RunRecord, true},
      {"parse", "FILE", "a record per kernel: which op launched it", parse::RunParse, true},
      {"prof", "FILE...", "all tables, chosen by options", prof::RunProf, true},
      {"report", "FILE...", "all tables and a timeline, as a page for the browser",
       report::RunReport, true},
  };
  for (const prof::Command& task : prof::Commands()) {
    commands.push_back(
        {task.word, task.arguments, task.help,
         [word = task.word](int argc, char** argv) { return prof::RunCommand(word, argc, argv); }});
  }
  return commands;
}

}  // namespace

std::span<const Command> Commands() {
  static const std::vector<Command> commands = MakeCommands();
  return commands;
}

const Command* FindCommand(std::string_view word) {
  const auto found = std::ranges::find(Commands(), word, &Command::word);
  return found == Commands().end() ? nullptr : &*found;
}

const Command* FindProgram(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with(OPLENS_PREFIX)) name.remove_prefix(std::string_view(OPLENS_PREFIX).size());
  const Command* const command = FindCommand(name);
  return command != nullptr && command->has_link ? command : nullptr;
}

std::string_view NearCommand(std::string_view word) {
  std::vector<std::string_view> words = {"help"};
  for (const Command& command : Commands()) words.push_back(command.word);
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
  for (const Command& command : Commands()) {
    add(fmt::format("{} {}", command.word, command.arguments), command.help);
  }
  add("help COMMAND", "the options of a command; oplens -h: those of the screen");
  return text;
}

}  // namespace oplens::screen
