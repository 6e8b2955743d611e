#ifndef OPLENS_TEST_RECORD_RECORD_RUN_H_
#define OPLENS_TEST_RECORD_RECORD_RUN_H_

#include <string>
#include <vector>

#include "test/support/program.h"

namespace oplens::test {

/// recorded_program with `command` as its arguments.
std::vector<std::string> Recorded(std::vector<std::string> command);

/// `record OPTIONS -- COMMAND`
std::vector<std::string> RecordCommand(const std::vector<std::string>& options,
                                       const std::vector<std::string>& command);

/// In the folder of the test.
RunOptions InTestDir();

/// Records a command of recorded_program as net.sql in the folder of the test.
RunResult Record(const std::vector<std::string>& command,
                 const std::vector<std::string>& more_options = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_RECORD_RECORD_RUN_H_
