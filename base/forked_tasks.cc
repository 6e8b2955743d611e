#include "base/forked_tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shortage.h"
#include "base/threads.h"
#include "base/write_all.h"

namespace oplens {
namespace {

constexpr int kTickMs = 100;

// An answer is framed by its kind byte at both ends, so that a truncated one is detected.
constexpr char kAnswer = 'A';
constexpr char kProblem = 'P';
constexpr char kShortage = 'S';  // A problem that does not name a file.

[[noreturn]] void Work(const std::function<std::string(size_t)>& work, size_t task, int fd) {
  // Die with the parent: nobody else reads the answer.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string kind(1, kAnswer);
  std::string answer;
  try {
    answer = work(task);
  } catch (const std::bad_alloc&) {
    kind = kShortage;
    answer = NoMemoryText();
  } catch (const std::exception& error) {
    kind = kProblem;
    answer = error.what();
  } catch (...) {
    kind = kProblem;
    answer = "failed for a reason that is not known";
  }
  const bool whole = WriteAll(fd, kind) && WriteAll(fd, answer) && WriteAll(fd, kind);
  // _exit: buffers and files belong to the parent.
  _exit(whole ? 0 : 1);
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) {
    // The kernel's or a container's out-of-memory killer sends SIGKILL.
    return fmt::format("its worker was ended by signal {} ({}){}", WTERMSIG(status),
                       strsignal(WTERMSIG(status)),
                       WTERMSIG(status) == SIGKILL ? "; is there too little memory?" : "");
  }
  return "its worker ended without an answer";
}

/// A task that is running, or finished but not taken yet.
struct Running {
  pid_t process = -1;
  int fd = -1;
  std::string bytes;
  bool ended = false;
  int status = 0;

  TaskResult Take() {
    TaskResult result;
    const bool whole = bytes.size() >= 2 && bytes.front() == bytes.back();
    std::string text = whole ? bytes.substr(1, bytes.size() - 2) : std::string();
    result.done = whole && bytes.front() == kAnswer;
    if (result.done) {
      result.bytes = std::move(text);
    } else {
      result.problem = whole ? std::move(text) : HowItEnded(status);
      result.crashed = !whole || bytes.front() == kShortage;
    }
    return result;
  }
};

/// The started processes by task.
class Processes {
 public:
  ~Processes() {
    for (auto& [task, one] : all_) {
      if (one.ended) continue;
      kill(one.process, SIGKILL);
      End(&one);
    }
  }

  void Begin(size_t task, const std::function<std::string(size_t)>& work) {
    std::array<int, 2> ends{};
    const auto fail = [](int error_number) {
      throw Error(fmt::format("no worker can be started: {}; give a smaller --jobs",
                              std::strerror(error_number)));
    };
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno);
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      Work(work, task, ends[1]);
    }
    const int error_number = errno;
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      fail(error_number);
    }
    Running& one = all_[task];
    one.process = process;
    one.fd = ends[0];
    ++running_;
  }

  /// Reads available output; waits briefly if there is none.
  void Read() {
    std::vector<pollfd> waits;
    std::vector<Running*> who;
    for (auto& [task, one] : all_) {
      if (one.ended) continue;
      waits.push_back({one.fd, POLLIN, 0});
      who.push_back(&one);
    }
    if (poll(waits.data(), waits.size(), kTickMs) <= 0) return;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents != 0) ReadOf(who[i]);
    }
  }

  /// Whether the task has ended; takes its answer.
  bool Take(size_t task, TaskResult* result) {
    const auto found = all_.find(task);
    if (found == all_.end() || !found->second.ended) return false;
    *result = found->second.Take();
    all_.erase(found);
    return true;
  }

  size_t running() const { return running_; }
  size_t ended() const { return ended_; }

 private:
  void ReadOf(Running* one) {
    std::array<char, size_t{64} << 10> piece{};
    const ssize_t size = read(one->fd, piece.data(), piece.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size > 0) {
      one->bytes.append(piece.data(), static_cast<size_t>(size));
    } else {
      End(one);
    }
  }

  void End(Running* one) {
    close(one->fd);
    while (waitpid(one->process, &one->status, 0) < 0 && errno == EINTR) {
    }
    one->ended = true;
    --running_;
    ++ended_;
  }

  std::map<size_t, Running> all_;
  size_t running_ = 0;
  size_t ended_ = 0;
};

}  // namespace

void ForkedTasks::Run(const std::function<void(size_t task, TaskResult result)>& take,
                      const std::function<void(size_t ended)>& tick) {
  // The processes share the threads that this one may use.
  const int threads = ThreadLimit() / static_cast<int>(std::clamp<size_t>(
                                          std::min(most_at_once_, count_), 1, kMostFileThreads));
  const auto work = [this, threads](size_t task) {
    SetThreadLimit(threads);
    return work_(task);
  };
  Processes processes;
  size_t begun = 0;
  for (size_t awaited = 0; awaited < count_;) {
    const size_t most_ahead = awaited + 2 * most_at_once_;
    while (begun < count_ && begun <= most_ahead && processes.running() < most_at_once_) {
      processes.Begin(begun++, work);
    }
    TaskResult result;
    if (processes.Take(awaited, &result)) {
      take(awaited++, std::move(result));
      continue;
    }
    if (tick != nullptr) tick(processes.ended());
    processes.Read();
  }
}

}  // namespace oplens
