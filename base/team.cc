#include "base/team.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/threads.h"

namespace oplens {

Team::Team(size_t threads) {
  try {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  } catch (const std::system_error&) {
    // Those that were started, and the caller, do it all.
  }
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  called_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Begin(size_t count, std::function<void(size_t)> work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
    busy_ = threads_.size();
    ++calls_;
  }
  called_.notify_all();
}

void Team::Join() {
  TakePart();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Team::Serve() {
  size_t served = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      called_.wait(lock, [&] { return ended_ || calls_ != served; });
      if (ended_) return;
      served = calls_;
    }
    TakePart();
    {
      const std::lock_guard lock(mutex_);
      --busy_;
    }
    done_.notify_one();
  }
}

void Team::TakePart() {
  std::optional<SharedThread> shared;
  if (!threads_.empty()) shared.emplace();
  for (size_t i = next_++; i < count_; i = next_++) {
    try {
      work_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr || i < failed_) {
        failed_ = i;
        failure_ = std::current_exception();
      }
    }
  }
}

size_t CountParts(size_t count, size_t least) {
  if (count == 0) return 0;
  const auto threads = static_cast<size_t>(ThreadLimit());
  // Several for each thread, so that one that is slow or late takes fewer.
  constexpr size_t kForEach = 4;
  const size_t most = threads < 2 ? 1 : threads * kForEach;
  return std::clamp<size_t>(count / std::max<size_t>(least, 1), 1, most);
}

void InParts(size_t count, size_t parts,
             const std::function<void(size_t part, size_t begin, size_t end)>& work) {
  const auto bound = [&](size_t part) {
    return part * (count / parts) + std::min(part, count % parts);
  };
  const auto threads = static_cast<size_t>(ThreadLimit());
  Team team(parts < 2 ? 0 : std::min(parts, threads) - 1);
  team.Each(parts, [&](size_t part) { work(part, bound(part), bound(part + 1)); });
}

}  // namespace oplens
