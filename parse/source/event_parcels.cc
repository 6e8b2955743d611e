#include "parse/source/event_parcels.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/threads.h"

namespace oplens::parse {
namespace {

constexpr size_t kMostParcels = 8;
/// Of a document that is read without a thread: 2 MB of text.
constexpr int kParcelsBeforeThread = 16;

}  // namespace

void EventParcel::Clear() {
  text = {};
  is_window = false;
  spans.clear();
  key.clear();
  counted.clear();
  members.clear();
}

/// Parcels on their way to the handler, and back.
class EventHandover::Thread {
 public:
  /// Throws std::system_error if no thread can be started.
  explicit Thread(EventHandover* owner) : owner_(*owner) {
    for (size_t i = 0; i < kMostParcels; ++i) free_.push_back(std::make_unique<EventParcel>());
    thread_ = std::thread([this] { Work(); });
  }
  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  EventParcel* Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ != nullptr || !free_.empty(); });
    if (failure_ != nullptr) Rethrow();
    taken_ = std::move(free_.back());
    free_.pop_back();
    return taken_.get();
  }

  void Give() {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(taken_));
    }
    changed_.notify_all();
  }

  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (failure_ != nullptr) Rethrow();
  }

 private:
  [[noreturn]] void Rethrow() { std::rethrow_exception(failure_); }

  void Work() {
    try {
      while (std::unique_ptr<EventParcel> parcel = Next()) {
        owner_.Hand(*parcel);
        parcel->Clear();
        {
          const std::lock_guard lock(mutex_);
          free_.push_back(std::move(parcel));
        }
        changed_.notify_all();
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  /// Null at the end.
  std::unique_ptr<EventParcel> Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return given_up_ || done_ || !waiting_.empty(); });
    if (given_up_ || waiting_.empty()) return nullptr;
    std::unique_ptr<EventParcel> parcel = std::move(waiting_.front());
    waiting_.pop_front();
    return parcel;
  }

  EventHandover& owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<EventParcel>> waiting_;
  std::vector<std::unique_ptr<EventParcel>> free_;
  std::unique_ptr<EventParcel> taken_;  // The caller's.
  std::exception_ptr failure_;          // Of the handler.
  bool done_ = false;
  bool given_up_ = false;
  std::thread thread_;
};

EventHandover::EventHandover(JsonEventHandler* handler, Diagnostics* diagnostics,
                             const JsonList& list)
    : handler_(*handler),
      diagnostics_(*diagnostics),
      list_(list),
      own_(std::make_unique<EventParcel>()) {}

EventHandover::~EventHandover() = default;

EventParcel* EventHandover::Take() {
  if (thread_ == nullptr && handed_ >= kParcelsBeforeThread && ThreadLimit() > 1) {
    try {
      thread_ = std::make_unique<Thread>(this);
    } catch (const std::system_error&) {
      handed_ = 0;  // It goes on without one.
    }
  }
  return thread_ != nullptr ? thread_->Take() : own_.get();
}

void EventHandover::Give(EventParcel* parcel) {
  if (thread_ != nullptr) return thread_->Give();
  ++handed_;
  Hand(*parcel);
  parcel->Clear();
}

void EventHandover::Finish() {
  if (thread_ != nullptr) thread_->Finish();
}

void EventHandover::Hand(const EventParcel& parcel) {
  for (const auto& [reason, place] : parcel.counted) Count(reason, place);
  for (const auto& [reason, example] : parcel.members) diagnostics_.Count(reason, example);
  if (!parcel.key.empty()) return handler_.OnMember(parcel.key, parcel.value);
  if (parcel.spans.empty()) return;
  if (!parcel.is_window) return HandEvent(parcel, parcel.value, parcel.spans.front());
  size_t i = 0;
  for (const simdjson::dom::element event : simdjson::dom::array(parcel.value)) {
    HandEvent(parcel, event, parcel.spans[i++]);
  }
}

void EventHandover::HandEvent(const EventParcel& parcel, simdjson::dom::element event,
                              const EventParcel::Span& span) {
  simdjson::dom::object object;
  if (event.get(object) != simdjson::SUCCESS) {
    ++bad_;
    return Count(list_.bad, span.place);
  }
  handler_.event_text = parcel.text.substr(span.begin, span.end - span.begin);
  handler_.OnEvent(object);
  ++events_;
}

void EventHandover::Count(Reason reason, int64_t place) {
  diagnostics_.Count(
      reason, diagnostics_.KeepsExample(reason) ? fmt::format("at byte {}", place) : std::string());
}

}  // namespace oplens::parse
