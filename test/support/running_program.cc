#include "test/support/running_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

namespace oplens::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

std::array<int, 2> MakePipeEnds() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  return ends;
}

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& command,
                               const std::filesystem::path& directory) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::array<int, 2> out = MakePipeEnds();
  const std::array<int, 2> err = MakePipeEnds();
  process_id_ = ::fork();
  if (process_id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process_id_ == 0) {
    ::setpgid(0, 0);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    if (directory.empty() || ::chdir(directory.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::setpgid(process_id_, process_id_);
  ::close(out[1]);
  ::close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

RunningProgram::~RunningProgram() {
  // The group exists as long as a process of it does, or its leader was not waited for.
  if (!waited_ || ::kill(-process_id_, 0) == 0) SendToGroup(SIGKILL);
  if (!waited_) Wait();
  ::close(out_fd_);
  ::close(err_fd_);
}

bool RunningProgram::ReadSome() {
  std::array<pollfd, 2> fds{pollfd{out_fd_, POLLIN, 0}, pollfd{err_fd_, POLLIN, 0}};
  const std::array<std::string*, 2> texts{&out_, &err_};
  ::poll(fds.data(), fds.size(), 100);
  size_t ended = 0;
  std::array<char, 4096> buffer{};
  for (size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    const ssize_t n = ::read(fds[i].fd, buffer.data(), buffer.size());
    if (n > 0) texts[i]->append(buffer.data(), static_cast<size_t>(n));
    if (n == 0) ++ended;
  }
  return ended < fds.size();
}

bool RunningProgram::WaitFor(const std::string& text, const std::string& stream) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (stream.find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end || !ReadSome()) return false;
  }
  return true;
}

bool RunningProgram::WaitForLine(const std::string& line) { return WaitFor(line + "\n", out_); }
bool RunningProgram::WaitForError(const std::string& text) { return WaitFor(text, err_); }

void RunningProgram::Send(int signal_number) const { ::kill(process_id_, signal_number); }
void RunningProgram::SendToGroup(int signal_number) const { ::kill(-process_id_, signal_number); }

void RunningProgram::Kill() const {
  Send(SIGKILL);
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(process_id_), &end, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
}

int RunningProgram::Wait() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end && ReadSome()) {
  }
  if (std::chrono::steady_clock::now() >= end) SendToGroup(SIGKILL);
  int status = 0;
  while (::waitpid(process_id_, &status, 0) < 0 && errno == EINTR) {
  }
  waited_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Await(const std::function<bool()>& there) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!there()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace oplens::test
