#include "mcp/protocol/transport.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/write_all.h"

namespace oplens::mcp {
namespace {

/// Writes whole lines from several threads.
class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}

  void Write(std::string line) {
    if (line.empty()) return;
    line.push_back('\n');
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!gone_ && !WriteAll(fd_, line)) gone_ = true;
  }
  /// Whether nobody reads any more.
  bool gone() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (gone_) return true;
    pollfd asked{fd_, 0, 0};
    if (poll(&asked, 1, 0) > 0 && (asked.revents & (POLLERR | POLLNVAL)) != 0) gone_ = true;
    return gone_;
  }

 private:
  const int fd_;
  std::mutex mutex_;
  bool gone_ = false;
};

/// Threads that run calls in the order in which they came.
class Workers {
 public:
  Workers(Session* session, ToolSet* tools, LineWriter* writer)
      : session_(*session), tools_(*tools), writer_(*writer) {}
  ~Workers() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Add(Session::Call call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(call));
    ++unfinished_;
    if (unfinished_ > threads_.size() && threads_.size() < kMostCalls) {
      threads_.emplace_back([this] { Run(); });
    }
    wake_.notify_one();
  }
  /// Waits at most that long; returns whether all calls are finished.
  bool Await(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    return idle_.wait_for(lock, time, [this] { return unfinished_ == 0; });
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Session::Call call = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      ToolAnswer answer;
      if (!call.context->cancelled()) {
        answer = tools_.Call(call.tool, call.arguments, call.context.get());
      }
      writer_.Write(session_.Finish(call, answer));
      lock.lock();
      if (--unfinished_ == 0) idle_.notify_all();
    }
  }

  Session& session_;
  ToolSet& tools_;
  LineWriter& writer_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<Session::Call> waiting_;
  std::vector<std::thread> threads_;
  size_t unfinished_ = 0;
  bool ended_ = false;
};

/// Cuts what is read into lines. Of a line that is too long only the beginning is kept, one byte
/// more than a message may have.
class LineCutter {
 public:
  template <typename Take>
  void Add(std::string_view bytes, const Take& take) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      line_.append(
          part.substr(0, kMostMessageBytes + 1 - std::min(line_.size(), kMostMessageBytes + 1)));
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      End(take);
    }
  }
  template <typename Take>
  void End(const Take& take) {
    std::string line = std::exchange(line_, {});
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) take(line);
  }

 private:
  std::string line_;
};

}  // namespace

void Serve(int in, int out, const ServerFacts& facts, ToolSet* tools) {
  LineWriter writer(out);
  Session session(facts, tools, [&](const std::string& line) { writer.Write(line); });
  Workers workers(&session, tools, &writer);
  const auto take = [&](const std::string& line) {
    Session::Outcome outcome = session.Take(line);
    writer.Write(std::move(outcome.reply));
    if (outcome.call) workers.Add(*std::move(outcome.call));
  };
  LineCutter cutter;
  std::array<char, size_t{64} << 10> bytes;
  while (!writer.gone()) {
    // Looks now and then whether the reader of the answers is still there.
    pollfd asked{in, POLLIN, 0};
    constexpr int kLookMs = 250;
    const int ready = poll(&asked, 1, kLookMs);
    session.TellProgress();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = read(in, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      cutter.End(take);
      break;
    }
    cutter.Add({bytes.data(), static_cast<size_t>(count)}, take);
  }
  constexpr std::chrono::milliseconds kLook{50};
  while (!workers.Await(kLook)) {
    session.TellProgress();
    if (writer.gone()) session.CancelAll();
  }
}

}  // namespace oplens::mcp
