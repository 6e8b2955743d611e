#include "test/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace oplens::test {
namespace {

constexpr int kDidNotStart = 127;
constexpr uid_t kNobody = 65534;

[[noreturn]] void ThrowErrno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) ThrowErrno("pipe2");
  return {ends[0], ends[1]};
}

constexpr char kEndOfInput = '\4';

/// A raw terminal, but for kEndOfInput: the read end is its master. Takes the place of a pipe.
Pipe MakeTerminal(int columns) {
  termios modes{};
  ::cfmakeraw(&modes);
  modes.c_lflag |= ICANON;
  modes.c_cc[VEOF] = kEndOfInput;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  Pipe ends;
  if (::openpty(&ends.read_end, &ends.write_end, nullptr, &modes, &size) != 0)
    ThrowErrno("openpty");
  for (const int fd : {ends.read_end, ends.write_end}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return ends;
}

/// The environment of this process with `changes`, as execve() wants it.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& changes) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const auto replaces = [&](const std::string& change) {
      return name_of(change) == name_of(*entry);
    };
    if (std::none_of(changes.begin(), changes.end(), replaces)) environment.emplace_back(*entry);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != std::string::npos) environment.push_back(change);
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void Close(int* fd) {
  if (*fd >= 0) ::close(*fd);
  *fd = -1;
}

// Runs in the child: only async-signal-safe calls.
[[noreturn]] void Exec(char* const* argv, char* const* environment, const RunOptions& options,
                       int in, int out, int err) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  if (options.max_file_bytes > 0) {
    const auto limit = static_cast<rlim_t>(options.max_file_bytes);
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    ::signal(SIGXFSZ, SIG_IGN);
  }
  bool ready = options.directory.empty() || ::chdir(options.directory.c_str()) == 0;
  if (options.unprivileged && ::geteuid() == 0) {
    ready = ready && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
  }
  if (ready) ::execve(argv[0], argv, environment);
  ::_exit(kDidNotStart);
}

void ReadAll(int out, int err, const std::function<void(const std::string&)>& on_err,
             RunResult* result) {
  std::array<pollfd, 2> fds{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  std::array<std::string*, 2> texts{&result->out, &result->err};
  std::array<char, 65536> buffer{};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) ThrowErrno("poll");
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const ssize_t n = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0) texts[i]->append(buffer.data(), static_cast<size_t>(n));
      if (n > 0 && i == 1 && on_err) on_err(result->err);
      // A terminal ends with EIO.
      if (n == 0 || (n < 0 && errno != EINTR)) fds[i].fd = -1;
    }
  }
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

RunResult RunProgram(const std::vector<std::string>& command, const RunOptions& options) {
  std::vector<std::string> arguments = command;
  const std::vector<char*> argv = Pointers(&arguments);
  std::vector<std::string> variables = EnvironmentWith(options.environment);
  const std::vector<char*> environment = Pointers(&variables);

  int in = ::open(options.stdin_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) ThrowErrno(options.stdin_path.c_str());
  const auto make = [&] {
    return options.terminal_columns > 0 ? MakeTerminal(options.terminal_columns) : MakePipe();
  };
  Pipe out = make();
  Pipe err = make();
  if (options.terminal_stdin && options.terminal_columns > 0) {
    Close(&in);
    in = ::fcntl(out.write_end, F_DUPFD_CLOEXEC, 0);
    if (::write(out.read_end, &kEndOfInput, 1) != 1) ThrowErrno("a terminal");
  }
  if (!options.stdout_path.empty()) {
    Close(&out.write_end);
    out.write_end =
        ::open(options.stdout_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out.write_end < 0) ThrowErrno(options.stdout_path.c_str());
  }
  if (options.closed_stdout) Close(&out.read_end);

  const pid_t child = ::fork();
  if (child < 0) ThrowErrno("fork");
  if (child == 0) Exec(argv.data(), environment.data(), options, in, out.write_end, err.write_end);

  Close(&in);
  Close(&out.write_end);
  Close(&err.write_end);
  RunResult result;
  ReadAll(out.read_end, err.read_end, options.on_err, &result);
  Close(&out.read_end);
  Close(&err.read_end);

  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) ThrowErrno("wait4");
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  result.max_rss_bytes = int64_t{usage.ru_maxrss} * 1024;
  return result;
}

}  // namespace oplens::test
