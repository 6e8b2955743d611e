#include "test/support/counted_calls.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>

namespace oplens::test {
namespace {

constexpr long kPathCalls[] = {
#ifdef SYS_stat
    SYS_stat,       SYS_lstat,   SYS_open,   SYS_access,     SYS_readlink,
#endif
    SYS_newfstatat, SYS_statx,   SYS_openat, SYS_readlinkat, SYS_faccessat,
#ifdef SYS_faccessat2
    SYS_faccessat2, SYS_openat2,
#endif
};

[[noreturn]] void StartTraced(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  // The search for leaks cannot run in a traced process.
  const char* const options = std::getenv("ASAN_OPTIONS");
  ::setenv("ASAN_OPTIONS",
           (std::string(options == nullptr ? "" : options) + ":detect_leaks=0").c_str(), 1);
  ::raise(SIGSTOP);  // Until the tracer is there.
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

bool BeginsPathCall(pid_t process) {
  struct __ptrace_syscall_info info {};
  const long size = ::ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof(info), &info);
  if (size <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  return std::ranges::find(kPathCalls, static_cast<long>(info.entry.nr)) != std::end(kPathCalls);
}

int ExitCodeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<CountedRun> RunCounted(const std::vector<std::string>& command) {
  const pid_t first = ::fork();
  if (first < 0) return std::nullopt;
  if (first == 0) StartTraced(command);
  int status = 0;
  ::waitpid(first, &status, WUNTRACED);
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (::ptrace(PTRACE_SEIZE, first, nullptr, kOptions) != 0) {
    ::kill(first, SIGKILL);
    ::waitpid(first, &status, 0);
    return std::nullopt;
  }
  ::kill(first, SIGCONT);
  CountedRun run;
  while (true) {
    const pid_t process = ::waitpid(-1, &status, __WALL);
    if (process < 0 && errno == EINTR) continue;
    if (process < 0) return run;  // All have ended.
    if (!WIFSTOPPED(status)) {
      if (process == first) run.exit_code = ExitCodeOf(status);
      continue;
    }
    const int stop = WSTOPSIG(status);
    const int event = status >> 16;
    int signal_number = 0;
    if (stop == (SIGTRAP | 0x80)) {
      if (BeginsPathCall(process)) ++run.path_calls;
    } else if (event == 0) {
      signal_number = stop;  // Meant for the process.
    }
    ::ptrace(PTRACE_SYSCALL, process, nullptr, signal_number);
  }
}

}  // namespace oplens::test
