#include "record/signals.h"

#include <array>
#include <ctime>

namespace oplens::record {
namespace {

constexpr std::array kTaken = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};

}  // namespace

Signals::Signals() {
  ::sigemptyset(&taken_);
  for (const int number : kTaken) ::sigaddset(&taken_, number);
  // Where children's ends are ignored, the system throws their exit codes away.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &child_before_);
  ::sigprocmask(SIG_BLOCK, &taken_, &before_);
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
  return Signal{number, info.si_code == SI_KERNEL};
}

}  // namespace oplens::record
