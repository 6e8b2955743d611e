#include "test/record/record_run.h"

#include "test/support/test_files.h"

namespace oplens::test {

std::vector<std::string> Recorded(std::vector<std::string> command) {
  command.insert(command.begin(), Program("recorded_program"));
  return command;
}

std::vector<std::string> RecordCommand(const std::vector<std::string>& options,
                                       const std::vector<std::string>& command) {
  std::vector<std::string> words = {Program("record")};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

RunOptions InTestDir() {
  RunOptions options;
  options.directory = TestDir();
  return options;
}

RunResult Record(const std::vector<std::string>& command,
                 const std::vector<std::string>& more_options) {
  std::vector<std::string> options = {"-o", "net.sql"};
  options.insert(options.end(), more_options.begin(), more_options.end());
  return RunProgram(RecordCommand(options, Recorded(command)), InTestDir());
}

}  // namespace oplens::test
