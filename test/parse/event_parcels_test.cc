#include "parse/source/event_parcels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "parse/source/byte_source.h"

namespace oplens::parse::event_parcels_test {
namespace {

constexpr int kEvents = 12'000;  // About 5 MB, of which threads share 3, some 20 windows.

/// Sets the limit back afterwards.
class Threads {
 public:
  explicit Threads(int limit) : before_(ThreadLimit()) { SetThreadLimit(limit); }
  ~Threads() { SetThreadLimit(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// A text; throws when `fails_at` of its bytes were read.
class TextSource : public ByteSource {
 public:
  TextSource(const std::string& text, size_t fails_at) : text_(text), fails_at_(fails_at) {}
  size_t Read(char* to, size_t size) override {
    const size_t taken = std::min(size, text_.size() - used_);
    std::memcpy(to, text_.data() + used_, taken);
    used_ += taken;
    if (used_ >= fails_at_) throw std::runtime_error("the disk is gone");
    return taken;
  }

 private:
  const std::string& text_;
  size_t fails_at_;
  size_t used_ = 0;
};

class Handler : public JsonEventHandler {
 public:
  explicit Handler(size_t fails_at) : fails_at_(fails_at) {}
  void OnEvent(simdjson::dom::object event) override {
    if (events_++ == fails_at_) throw std::runtime_error("the handler is gone");
    seen_ += simdjson::minify(event);
    seen_ += event_text;
  }
  void OnMember(std::string_view key, simdjson::dom::element value) override {
    seen_ += fmt::format("{}={}", key, simdjson::minify(value));
  }
  const std::string& seen() const { return seen_; }

 private:
  size_t fails_at_;
  size_t events_ = 0;
  std::string seen_;
};

std::string Document(const std::function<std::string(int)>& event) {
  std::string text = R"({"before": [1, 2], "traceEvents": [)";
  for (int i = 0; i < kEvents; ++i) text += (i > 0 ? ",\n" : "\n") + event(i);
  return text + R"(], "after": {"x": "y"}})";
}

std::string Whole(int i) {
  static const std::string text(280, 'x');
  return fmt::format(
      R"({{"ph": "X", "name": "kernel {}", "ts": {}, "args": {{"n": [{}, 2], "text": "{}"}}}})",
      i % 7, i * 10, i, text);
}

/// Event i of a document with a bad event now and then.
std::string Bad(int i, int every) {
  switch (i % every == 0 ? i / every % 7 : -1) {
    case 0:
      return R"({"ph": "X", "name": "a " quote"})";
    case 1:
      return "[1, 2, {\"ph\": 3}]";
    case 2:
      return "17";
    case 3:
      return R"({"ph": "X", "name": "no end})";
    case 4:
      return "{\"ph\": nan}";
    case 5:
      return fmt::format(R"({{"ph": "X", "long": "{}"}})", std::string(size_t{3} << 20, 'y'));
    case 6:
      return "{}";
    default:
      return Whole(i);
  }
}

/// What becomes of a document, in words.
std::string Outcome(const std::string& text, int threads, size_t source_fails_at = SIZE_MAX,
                    size_t handler_fails_at = SIZE_MAX) {
  const Threads limit(threads);
  TextSource source(text, source_fails_at);
  Handler handler(handler_fails_at);
  Diagnostics diagnostics;
  std::string outcome;
  try {
    const JsonEventCounts counts = ReadJsonEvents(&source, "t.json", &handler, &diagnostics);
    outcome = fmt::format("{} events, {} repaired, {} bad, {} lost, {} trailing\n", counts.events,
                          counts.repaired, counts.bad, counts.lost_bytes, counts.trailing_bytes);
  } catch (const std::runtime_error& error) {
    outcome = fmt::format("{}\n", error.what());
  }
  for (const Reason reason : {Reason::kBadEvent, Reason::kRepairedEvent, Reason::kFileCut}) {
    outcome += fmt::format("{}:", diagnostics.CountOf(reason));
    for (const std::string& example : diagnostics.ExamplesOf(reason)) outcome += " " + example;
    outcome += '\n';
  }
  return outcome + handler.seen();
}

/// The events of an outcome.
std::string Events(const std::string& outcome) {
  size_t at = 0;
  for (int line = 0; line < 4; ++line) at = outcome.find('\n', at) + 1;
  return outcome.substr(at);
}

void ExpectSameForAnyThreads(const std::string& text, size_t handler_fails_at = SIZE_MAX) {
  const std::string one = Outcome(text, 1, SIZE_MAX, handler_fails_at);
  for (const int threads : {2, 3, 8}) {
    const std::string many = Outcome(text, threads, SIZE_MAX, handler_fails_at);
    // Not EXPECT_EQ, which would print megabytes.
    EXPECT_TRUE(many == one) << threads << ": " << many.substr(0, 300) << "\nnot\n"
                             << one.substr(0, 300);
  }
}

/// What the source throws comes behind events from the first on, as many as were whole before.
void ExpectSourceFailure(const std::string& text, size_t fails_at) {
  const std::string all = Events(Outcome(text, 1));
  for (const int threads : {1, 2, 3, 8}) {
    const std::string outcome = Outcome(text, threads, fails_at);
    EXPECT_TRUE(outcome.starts_with("the disk is gone\n")) << outcome.substr(0, 300);
    const std::string events = Events(outcome);
    EXPECT_TRUE(all.starts_with(events)) << threads;
    // All but what was in the last 256 kB that were read, and in the window so far. An event is
    // seen twice: minified, and as its text.
    EXPECT_GT(events.size(), fails_at - 512'000);
  }
}

TEST(EventParcelsTest, EventsAreTheSameForAnyThreads) { ExpectSameForAnyThreads(Document(Whole)); }

TEST(EventParcelsTest, EventsArrive) {
  EXPECT_TRUE(Outcome(Document(Whole), 2).starts_with("12000 events, 0 repaired, 0 bad,"));
}

TEST(EventParcelsTest, BadEventsAreTheSameForAnyThreads) {
  // The rarer, the longer threads share the windows.
  for (const int every : {401, 1999, 7001}) {
    const std::string text = Document([every](int i) { return Bad(i, every); });
    EXPECT_FALSE(Outcome(text, 1).starts_with("12000 events, 0 repaired"));
    ExpectSameForAnyThreads(text);
  }
}

TEST(EventParcelsTest, CutDocumentsAreTheSameForAnyThreads) {
  const std::string text = Document(Whole);
  ExpectSameForAnyThreads(text.substr(0, text.size() / 2));
  ExpectSameForAnyThreads(text.substr(0, text.size() / 2) + Document(Whole));
}

TEST(EventParcelsTest, WhatTheHandlerThrowsReachesTheCaller) {
  for (const size_t event : {size_t{0}, size_t{10'000}, size_t{kEvents - 1}}) {
    EXPECT_TRUE(Outcome(Document(Whole), 2, SIZE_MAX, event).starts_with("the handler is gone\n"));
    ExpectSameForAnyThreads(Document(Whole), event);
  }
}

TEST(EventParcelsTest, WhatTheSourceThrowsReachesTheCallerBehindTheEvents) {
  const std::string text = Document(Whole);
  EXPECT_TRUE(Outcome(text, 2, text.size() / 2).starts_with("the disk is gone\n"));
  ExpectSourceFailure(text, text.size() / 2);
  // The handler fails earlier in the document.
  EXPECT_TRUE(Outcome(text, 2, text.size() / 2, 100).starts_with("the handler is gone\n"));
  // The source fails while windows before that place wait to be read once more.
  const std::string bad = Document([](int i) { return Bad(i, 7001); });
  for (const size_t place : {bad.size() / 3, bad.size() / 2, bad.size() - 100'000}) {
    ExpectSourceFailure(bad, place);
  }
}

}  // namespace
}  // namespace oplens::parse::event_parcels_test
