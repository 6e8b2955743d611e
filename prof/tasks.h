#ifndef OPLENS_PROF_TASKS_H_
#define OPLENS_PROF_TASKS_H_

#include <cstdint>
#include <string_view>

#include "base/cxxopts.h"
#include "base/help_options.h"
#include "prof/options.h"

namespace oplens::prof {

/// How a command of `oplens` gets the value of its task's option.
enum class CommandForm : uint8_t {
  kFlag,   ///< The option takes no value.
  kFirst,  ///< The first argument is the value.
  kGiven,  ///< The option is given by its name.
};

/// An option that asks for a task, and the command of `oplens` that stands for it.
struct TaskEntry {
  const char* option;
  Task task;
  const char* why;  ///< Why it does not go with {}, an option of others; "": OptionEntry::needs.
  CommandForm form;
  const char* command;
  const char* arguments;  ///< As help shows them.
  const char* help;       ///< One line.
  const char* example;    ///< Arguments worth typing.
};

/// The task that a command line of `prof` asks for.
const TaskEntry& TaskOf(const cxxopts::ParseResult& given);
/// The task of `oplens WORD`; null if there is no such command.
const TaskEntry* FindCommand(std::string_view word);

/// Throws UsageError for an option that the task does not take. `is_command`: it is one of
/// `oplens`. `keeps_summaries`: as in Options.
void RefuseOthers(const cxxopts::ParseResult& given, const TaskEntry& task, bool is_command,
                  bool keeps_summaries);
/// What help says of a command: what it says of `prof`, less what the command does not take.
ProgramText TextOfCommand(const TaskEntry& command);
/// Throws UsageError if a command misses an argument that it cannot do without, or if its first one
/// is given as an option too.
void RefuseOtherArguments(const cxxopts::ParseResult& given, const TaskEntry& command);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TASKS_H_
