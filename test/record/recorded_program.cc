// A program to be recorded: it annotates itself with NVTX and then does what programs do to those
// who watch them.
//
//   recorded_program COMMAND [VALUE]
//
// Ranges of every command: "work" around what it does; `ranges N` has N pairs "range" with a mark
// "mark" in each. Exit code 0 unless the command says otherwise, 99 for a wrong command line.

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

extern char** environ;

namespace {

constexpr int kWrongCommand = 99;

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

void Ranges(long number) {
  for (long i = 0; i < number; ++i) {
    const Range range("range");
    nvtxMarkA("mark");
  }
}

void RangesNamed(const char* name, long number) {
  for (long i = 0; i < number; ++i) const Range range(name);
}

void SleepSeconds(double seconds) {
  timespec left = {};
  left.tv_sec = static_cast<time_t>(seconds);
  left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/// Exits with N.
int Exit(const char* value) {
  const Range range("work");
  return std::atoi(value);
}

/// Dies of signal N, in the middle of a range.
int Crash(const char* value) {
  const Range range("work");
  const int number = std::atoi(value);
  ::signal(number, SIG_DFL);  // Sanitizers catch some.
  ::raise(number);
  return 0;
}

int Sleep(const char* value) {
  const Range range("work");
  std::puts("ready");
  std::fflush(stdout);
  SleepSeconds(std::atof(value));
  return 0;
}

/// A child that has N ranges; it is waited for. Exits with the child's exit code.
int Fork(const char* value) {
  const Range range("work");
  const pid_t child = ::fork();
  if (child == 0) {
    Ranges(std::atol(value));
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/// A child that lives until somebody opens the pipe PATH to write, and has one range.
int Orphan(const char* path) {
  const Range range("work");
  if (::fork() == 0) {
    const Range child_range("orphan");
    ::close(::open(path, O_RDONLY));
  }
  return 0;
}

std::atomic<long> g_handled{0};

/// N ranges, during which a signal handler runs as often as it can.
void Interrupted(const char* value, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, nullptr);
  RangesNamed("main", 1);  // Loads the recorder.
  itimerval often = {};
  often.it_interval.tv_usec = often.it_value.tv_usec = 20;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (long i = 1; i < std::atol(value); ++i) {
    const Range range("main");
    nvtxDomainNameCategoryA(nullptr, 7, "category");
  }
  often = {};
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

/// Interrupted by a handler that has a range and a mark. Prints how often.
int Handler(const char* value) {
  Interrupted(value, [](int) {
    nvtxRangePushA("handler");
    nvtxRangePop();
    nvtxMarkA("handler");
    g_handled.fetch_add(1);
  });
  std::printf("%ld\n", g_handled.load());
  return 0;
}

/// Interrupted by a handler that begins a range at one time and ends one at the next.
int HalfHandler(const char* value) {
  Interrupted(value, [](int) {
    if (g_handled.fetch_add(1) % 2 == 0) {
      nvtxRangePushA("handler");
    } else {
      nvtxRangePop();
    }
  });
  if (g_handled.load() % 2 != 0) nvtxRangePop();
  return 0;
}

/// N ranges "main" while a child that fork's handlers know nothing of has N "child", and leaves by
/// exit. Ends by _exit.
int WithChild(pid_t child, const char* value) {
  if (child == 0) {
    RangesNamed("child", std::atol(value));
    std::exit(0);
  }
  RangesNamed("main", std::atol(value));
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(WEXITSTATUS(status));
}

int BareFork(const char* value) {
  RangesNamed("main", 1);
#if __GLIBC_PREREQ(2, 34)
  return WithChild(::_Fork(), value);
#else
  return 77;
#endif
}

int Clone(const char* value) {
  RangesNamed("main", 1);
  return WithChild(static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), value);
}

/// Becomes `recorded_program ranges N`.
int Exec(const char* value) {
  const Range range("work");
  char self[] = "/proc/self/exe";
  char command[] = "ranges";
  std::string number = value;
  char* const argv[] = {self, command, number.data(), nullptr};
  ::execv(self, argv);
  return 1;
}

/// Closes every descriptor, then has N ranges.
int CloseAll(const char* value) {
  const Range range("work");
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
  Ranges(std::atol(value));
  return 0;
}

/// Goes to the root of the file system, then has N ranges.
int ChangeDirectory(const char* value) {
  const Range range("work");
  if (::chdir("/") != 0) return 1;
  Ranges(std::atol(value));
  return 0;
}

int RangesOnly(const char* value) {
  Ranges(std::atol(value));
  return 0;
}

/// Ranges without end, until it is killed.
int Forever(const char*) {
  Ranges(1000);
  std::puts("ready");
  std::fflush(stdout);
  while (true) Ranges(1000);
}

/// Answers signals with a line each, N times, then ends with exit code 7.
int Signals(const char* value) {
  const Range range("work");
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
                           SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXCPU, SIGRTMIN, SIGRTMAX}) {
    ::sigaddset(&set, number);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  for (int left = std::atoi(value); left > 0; --left) {
    const int number = ::sigwaitinfo(&set, nullptr);
    std::printf("signal %s\n", ::strsignal(number));
    std::fflush(stdout);
  }
  return 7;
}

/// Ignores SIGTERM and sleeps S seconds.
int Stubborn(const char* value) {
  ::signal(SIGTERM, SIG_IGN);
  return Sleep(value);
}

/// Prints what it was started with: descriptors, signals, group, and standard input.
int State(const char*) {
  const Range range("work");
  for (int fd = 0; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("open %d\n", fd);
  }
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < 32; ++number) {
    struct sigaction action = {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) std::printf("ignored %d\n", number);
    if (::sigismember(&mask, number) == 1) std::printf("blocked %d\n", number);
  }
  std::printf("group %d\n", static_cast<int>(::getpgrp()));
  for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
  return 0;
}

/// Prints its process id and the variables whose names begin with VALUE.
int Variables(const char* value) {
  const Range range("work");
  std::printf("pid=%d\n", static_cast<int>(::getpid()));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, value, std::strlen(value)) == 0) std::puts(*entry);
  }
  return 0;
}

/// Takes every descriptor that there is.
void TakeDescriptors() {
  while (::open("/dev/null", O_RDONLY) >= 0) {
  }
}

void AllowDescriptors(rlim_t number) {
  const rlimit limit = {number, number};
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Waits until `record`, which has --timeout, has looked at this process from now on. In a round it
/// passes signals on, waits for what ended, and looks, in this order: when it has waited for a
/// process and then passes on a signal, a look was between.
int AwaitALook() {
  const pid_t recorder = ::getppid();
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
  if (child == 0) ::_exit(0);
  if (child < 0) return 1;
  while (::kill(child, 0) == 0) ::usleep(1000);
  ::kill(recorder, SIGUSR1);
  return ::sigwaitinfo(&set, nullptr) == SIGUSR1 ? 0 : 1;
}

/// Has no descriptor left: "first" before the first range, "later" after it, "child" in a child.
/// Then there are 3000 ranges.
int Descriptors(const char* value) {
  const std::string_view when = value;
  AllowDescriptors(32);
  if (when == "first") TakeDescriptors();
  RangesNamed("work", 1);
  if (when == "child") {
    const pid_t child = ::fork();
    if (child > 0) return ::waitpid(child, nullptr, 0) == child ? 0 : 1;
  }
  TakeDescriptors();
  RangesNamed("a range with a name of some length, to fill a chunk", 3000);
  const int failed = when == "first" ? AwaitALook() : 0;
  ::close_range(3, 32, 0);  // A sanitizer looks for leaks at the end, and takes some.
  return failed;
}

/// A range and a registered string of a million bytes, a wide range and a wide string of half that,
/// and one of each that is not too long.
int Long(const char*) {
  const std::string text(1'000'000, 't');
  const std::wstring wide(500'000, L'w');
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
  nvtxRangePushA(text.c_str());
  nvtxRangePushW(wide.c_str());
  nvtxRangePushA("short");
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  nvtxDomainRegisterStringA(domain, text.c_str());
  nvtxDomainRegisterStringW(domain, wide.c_str());
  nvtxDomainRegisterStringA(domain, "short");
  return 0;
}

/// N times 80,000 ranges "step"; after each time but the last says so on stderr, and goes on when
/// there is a byte to read. Forks before the last: the child makes as many, named "child".
int Steps(const char* value) {
  constexpr long kRanges = 80'000;
  for (long left = std::atol(value); left > 1; --left) {
    RangesNamed("step", kRanges);
    std::fputs("step\n", stderr);
    if (std::getchar() == EOF) return 1;
  }
  const pid_t child = ::fork();
  RangesNamed(child == 0 ? "child" : "step", kRanges);
  return child == 0 || ::waitpid(child, nullptr, 0) == child ? 0 : 1;
}

struct Command {
  std::string_view word;
  int (*run)(const char* value);
};

constexpr Command kCommands[] = {
    {"exit", Exit},         {"crash", Crash},
    {"sleep", Sleep},       {"fork", Fork},
    {"orphan", Orphan},     {"exec", Exec},
    {"close", CloseAll},    {"chdir", ChangeDirectory},
    {"ranges", RangesOnly}, {"forever", Forever},
    {"signals", Signals},   {"stubborn", Stubborn},
    {"state", State},       {"variables", Variables},
    {"handler", Handler},   {"_Fork", BareFork},
    {"clone", Clone},       {"half-handler", HalfHandler},
    {"long", Long},         {"descriptors", Descriptors},
    {"steps", Steps},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return kWrongCommand;
  for (const Command& command : kCommands) {
    if (command.word == argv[1]) return command.run(argc > 2 ? argv[2] : "");
  }
  return kWrongCommand;
}
