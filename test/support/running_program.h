#ifndef OPLENS_TEST_SUPPORT_RUNNING_PROGRAM_H_
#define OPLENS_TEST_SUPPORT_RUNNING_PROGRAM_H_

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace oplens::test {

/// A program that runs beside the test, in a process group of its own. Its standard output and
/// error are kept. Whatever of the group is left at the end of the test is killed.
class RunningProgram {
 public:
  /// Throws std::system_error when it cannot be started.
  explicit RunningProgram(const std::vector<std::string>& command,
                          const std::filesystem::path& directory = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t process_id() const { return process_id_; }

  /// Waits until standard output has `line`. False: it ended, or 30 s went by.
  bool WaitForLine(const std::string& line);
  /// Waits until standard error has `text`. False: it ended, or 30 s went by.
  bool WaitForError(const std::string& text);
  /// Sends the signal to the program, not to its group.
  void Send(int signal_number) const;
  /// Sends the signal to every process of the group.
  void SendToGroup(int signal_number) const;
  /// Kills the program, not its group, and waits for its end alone: what it held is free then.
  void Kill() const;
  /// Reads the output to its end and waits. 128 + signal number when a signal ended it.
  int Wait();

  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  /// Waits for output, 100 ms at most. False: both streams ended.
  bool ReadSome();
  bool WaitFor(const std::string& text, const std::string& stream);

  pid_t process_id_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  std::string out_;
  std::string err_;
  bool waited_ = false;
};

/// Asks `there` again and again until it says true, for what tells nobody that it happened. False:
/// 30 s went by.
bool Await(const std::function<bool()>& there);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_RUNNING_PROGRAM_H_
