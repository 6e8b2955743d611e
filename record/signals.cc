#include "record/signals.h"

#include <array>
#include <ctime>

namespace oplens::record {
namespace {

constexpr std::array kTaken = {SIGCHLD, SIGHUP,    SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
                               SIGTERM, SIGSTKFLT, SIGXCPU, SIGPROF, SIGPOLL, SIGPWR,  SIGVTALRM};

}  // namespace

Signals::Signals() {
  ::sigemptyset(&taken_);
  for (const int number : kTaken) ::sigaddset(&taken_, number);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) ::sigaddset(&taken_, number);
  // Where children's ends are ignored, the system throws their exit codes away.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &child_before_);
  ::sigprocmask(SIG_BLOCK, &taken_, &before_);
  witness_.emplace();
}

Signals::~Signals() {
  // Those that came too late would kill with the database already in its place.
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
  // The limit of CPU time is each process's own.
  if (number == SIGXCPU && info.si_code == SI_KERNEL) return std::nullopt;
  return Signal{number, witness_->Saw(info)};
}

}  // namespace oplens::record
