#include "record/signals.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace oplens::record {
namespace {

/// Whether the signal is pending; consumes it.
bool Take(int number) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  const timespec at_once{};
  return ::sigtimedwait(&set, nullptr, &at_once) == number;
}

/// Renames this process: `kill $(pidof record)` must not hit it and appear as sent to the group.
void Rename() {
  constexpr char kName[] = "signals";
  ::prctl(PR_SET_NAME, kName, 0, 0, 0);
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<char, 4096> some{};
  size_t length = 0;
  for (ssize_t got = 0; (got = ::read(file, some.data(), some.size())) > 0;) {
    length += static_cast<size_t>(got);
  }
  ::close(file);
  // The arguments are contiguous from the first on.
  if (length < sizeof kName) return;
  std::memset(program_invocation_name, 0, length);
  std::memcpy(program_invocation_name, kName, sizeof kName);
}

/// Answers queries until the other end closes.
[[noreturn]] void RunWitness(int socket, pid_t parent) {
  Rename();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  int number = 0;
  while (::getppid() == parent && ::recv(socket, &number, sizeof number, 0) == sizeof number) {
    const bool saw = Take(number);
    ::send(socket, &saw, sizeof saw, MSG_NOSIGNAL);
  }
  ::_exit(0);
}

constexpr std::array kTaken = {SIGCHLD, SIGHUP,    SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
                               SIGTERM, SIGSTKFLT, SIGXCPU, SIGPROF, SIGPOLL, SIGPWR,  SIGVTALRM};

}  // namespace

GroupProbe::GroupProbe() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  const pid_t parent = ::getpid();
  process_id_ = ::fork();
  if (process_id_ == 0) {
    ::close(ends[0]);
    RunWitness(ends[1], parent);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

GroupProbe::~GroupProbe() {
  if (socket_ >= 0) ::close(socket_);
  if (process_id_ < 0) return;
  while (::waitpid(process_id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupProbe::Ask(int number, bool* saw) {
  if (socket_ < 0 || process_id_ < 0) return false;
  return ::send(socket_, &number, sizeof number, MSG_NOSIGNAL) == sizeof number &&
         ::recv(socket_, saw, sizeof *saw, 0) == sizeof *saw;
}

bool GroupProbe::Saw(const siginfo_t& info) {
  bool saw = false;
  if (!Ask(info.si_signo, &saw)) return info.si_code == SI_KERNEL;
  if (saw) return true;
  // The system signals the processes of a group one after another.
  constexpr useconds_t kMoment = 10'000;
  ::usleep(kMoment);
  return Ask(info.si_signo, &saw) && saw;
}

Signals::Signals() {
  ::sigemptyset(&taken_);
  for (const int number : kTaken) ::sigaddset(&taken_, number);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) ::sigaddset(&taken_, number);
  // If SIGCHLD is ignored, the system drops exit codes of children.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &child_before_);
  ::sigprocmask(SIG_BLOCK, &taken_, &before_);
  witness_.emplace();
}

Signals::~Signals() {
  // Late signals would kill this process after the database is in place.
  while (Wait(std::chrono::milliseconds(0))) {
  }
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<Signals::Signal> Signals::Wait(std::chrono::milliseconds timeout) {
  const timespec time = {timeout.count() / 1000, (timeout.count() % 1000) * 1'000'000};
  siginfo_t info{};
  const int number = ::sigtimedwait(&taken_, &info, &time);
  if (number <= 0) return std::nullopt;
  if (number == SIGCHLD) return Signal{number, false};
  // The limit of CPU time is per process.
  if (number == SIGXCPU && info.si_code == SI_KERNEL) return std::nullopt;
  return Signal{number, witness_->Saw(info)};
}

}  // namespace oplens::record
