#include "record/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/write_all.h"

namespace oplens::record {
namespace {

constexpr int kNotStarted = 127;

/// Returns whether all bytes could be read.
bool ReadAll(int fd, void* bytes, size_t size) {
  char* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

void Close(int* fd) {
  if (*fd >= 0) ::close(*fd);
  *fd = -1;
}

/// Both ends are above the standard streams, which may have to be closed in the child.
std::array<int, 2> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error("pipe", std::strerror(errno), "close other programs");
  }
  return ends;
}

void WaitFor(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Length-prefixed texts, since values may hold any byte except zero.
std::string Packed(const Environment& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    text.append(name).push_back('\0');
    text.append(value).push_back('\0');
  }
  return text;
}

/// Sets the variables made by Packed. False: out of memory.
bool SetVariables(const std::string& packed) {
  for (const char* at = packed.c_str(); at < packed.c_str() + packed.size();) {
    const char* value = at + std::strlen(at) + 1;
    if (::setenv(at, value, 1) != 0) return false;
    at = value + std::strlen(value) + 1;
  }
  return true;
}

/// The child process. Its parent has only one thread, so the child may allocate.
[[noreturn]] void RunChild(char* const* argv, const Inherited& inherited, int in, int out) {
  uint64_t size = 0;
  // Without the start message, `record` gave up or was killed.
  if (!ReadAll(in, &size, sizeof size)) ::_exit(kNotStarted);
  std::string packed(size, '\0');
  if (!ReadAll(in, packed.data(), packed.size())) ::_exit(kNotStarted);
  int error = ENOMEM;
  if (SetVariables(packed)) {
    inherited.Restore();
    ::execvp(argv[0], argv);
    error = errno;
  }
  static_cast<void>(WriteAll(out, {reinterpret_cast<const char*>(&error), sizeof error}));
  ::_exit(kNotStarted);
}

}  // namespace

Inherited::Inherited() {
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_);
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &actions_[i]);
  for (size_t fd = 0; fd < closed_.size(); ++fd) {
    closed_[fd] = ::fcntl(static_cast<int>(fd), F_GETFD) < 0 && errno == EBADF;
  }
}

void Inherited::Restore() const noexcept {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
  for (size_t fd = 0; fd < closed_.size(); ++fd) {
    if (closed_[fd]) ::close(static_cast<int>(fd));
  }
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

Launcher::Launcher(const std::vector<std::string>& command, const Inherited& inherited) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::array<int, 2> down = MakePipe();
  std::array<int, 2> up = MakePipe();
  process_id_ = ::fork();
  if (process_id_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    RunChild(argv.data(), inherited, down[0], up[1]);
  }
  const int error = errno;
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  if (process_id_ < 0) {
    Close(&to_child_);
    Close(&from_child_);
    throw Error(command.front(), fmt::format("cannot be started: {}", std::strerror(error)),
                "end other programs");
  }
}

Launcher::~Launcher() {
  Close(&to_child_);
  Close(&from_child_);
  if (!started_ && process_id_ > 0) WaitFor(process_id_);
}

int Launcher::Start(const Environment& variables) {
  const std::string packed = Packed(variables);
  const uint64_t size = packed.size();
  const bool told = WriteAll(to_child_, {reinterpret_cast<const char*>(&size), sizeof size}) &&
                    WriteAll(to_child_, packed);
  Close(&to_child_);
  int error = 0;
  // The pipe closes silently when the program is executed or the child is killed.
  const bool failed = ReadAll(from_child_, &error, sizeof error);
  Close(&from_child_);
  if (!told && !failed) error = EPIPE;
  started_ = error == 0;
  return error;
}

int ExitCodeOfFailedStart(int error_number) { return error_number == ENOENT ? 127 : 126; }

int ExitCodeOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace oplens::record
