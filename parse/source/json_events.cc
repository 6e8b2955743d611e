#include "parse/source/json_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/staged_work.h"
#include "base/threads.h"
#include "parse/source/bracket_scan.h"
#include "parse/source/event_parcels.h"
#include "parse/source/repair_json.h"
#include "parse/source/stream_buffer.h"
#include "parse/source/window_cutter.h"

namespace oplens::parse {
namespace {

/// Windows of this size and their parsed form fit into the processor's cache.
constexpr int64_t kWindowBytes = int64_t{128} << 10;
/// An event of this size that contains what begins like events has a quote missing.
constexpr int64_t kLongEventBytes = int64_t{64} << 10;
/// An event that is longer and holds what looks like another one is not repaired as one.
constexpr int64_t kMostNestedBytes = 4096;
constexpr int64_t kMostEventBytes = int64_t{64} << 20;
/// Of a document that is read without other threads: 2 MB of text.
constexpr int kWindowsBeforeThreads = 16;
/// After windows that the plain way had to read, at most so many are read without other threads.
constexpr int kMostWindowsAlone = 4096;
/// With more, read in search of an event's end, the plain way goes on: they would be one window.
constexpr int64_t kMostBytesRead = int64_t{1} << 20;

/// Finds where to resume after an unreadable event: the next object in `text` that begins like an
/// event and follows a comma, which a missing quote may have swallowed. npos if there is none.
size_t FindNextEvent(std::string_view text, const JsonList& list) {
  for (size_t event = text.find('{'); event != text.npos; event = text.find('{', event + 1)) {
    size_t before = event;
    while (before > 0 && IsBlank(text[before - 1])) --before;
    if (before == 0 || text[before - 1] != ',') continue;
    size_t key = event + 1;
    while (key < text.size() && IsBlank(text[key])) ++key;
    if (list.blank_before_key && key == event + 1) continue;
    for (const std::string_view word : list.first_keys) {
      if (text.substr(key).starts_with(word)) return event;
    }
  }
  return text.npos;
}

class DocumentReader {
 public:
  DocumentReader(ByteSource* source, const std::string& path, JsonEventHandler* handler,
                 Diagnostics* diagnostics, const JsonList& list)
      : list_(list),
        buffer_(source),
        source_(*source),
        path_(path),
        diagnostics_(*diagnostics),
        handover_(handler, diagnostics, list) {}

  JsonEventCounts Read() {
    ReadAll();
    counts_.events = handover_.events();
    counts_.bad += handover_.bad();
    CountLosses();
    return counts_;
  }

 private:
  void ReadAll() {
    if (buffer_.Require(0, 3) == 3 && buffer_.View(0, 3) == "\xEF\xBB\xBF") place_ = 3;
    if (SkipBlanks() && Current() == '[') {
      ++place_;
      counts_.has_events = true;
      counts_.truncated = !ReadEvents();
    } else if (Current() == '{') {
      ++place_;
      counts_.truncated = !ReadMembers();
    }
    if (!counts_.truncated) SkipTrailing();
    // Whether packed data is whole shows at its end only.
    if (counts_.truncated) LoseRest();
  }

  /// The byte at place_; 0 at the end.
  char Current() { return buffer_.Require(place_, 1) == 0 ? '\0' : *buffer_.At(place_); }

  /// Moves to the next byte that is not blank; false at the end.
  bool SkipBlanks() {
    while (true) {
      buffer_.Release(place_);
      if (buffer_.Require(place_, BracketScan::kBlockBytes) == 0) return false;
      for (const char c : buffer_.View(place_, buffer_.End())) {
        if (!IsBlank(c)) return true;
        ++place_;
      }
    }
  }

  /// Reads the members of the document; false if it ends before their end.
  bool ReadMembers() {
    while (SkipBlanks()) {
      if (Current() == '}') {
        ++place_;
        return true;
      }
      if (Current() == ',') {
        ++place_;
        continue;
      }
      if (!ReadMember()) return false;
    }
    return false;
  }

  bool ReadMember() {
    if (Current() != '"') return false;
    const int64_t key_start = place_;
    const int64_t key_end = FindStringEnd(key_start);
    if (key_end < 0) return false;
    const std::string key(buffer_.View(key_start + 1, key_end - 1));
    place_ = key_end;
    if (!SkipBlanks() || Current() != ':') return false;
    ++place_;
    if (!SkipBlanks()) return false;
    if (key == list_.key && Current() == '[') {
      ++place_;
      counts_.has_events = true;
      return ReadEvents();
    }
    const int64_t end = FindValueEnd(place_);
    if (end < 0) return false;
    HandMember(key, buffer_.View(place_, end));
    place_ = end;
    return true;
  }

  void HandMember(const std::string& key, std::string_view text) {
    parcel_.Clear();
    bool parsed =
        IsParsed(parcel_.parser.parse(text.data(), text.size(), false).get(parcel_.value));
    if (!parsed) {
      const std::string mended = RepairJson(text, JsonQuotes::kEscaped);
      parsed = IsParsed(parcel_.parser.parse(mended).get(parcel_.value));
    }
    if (parsed) {
      parcel_.key = key;
    } else {
      parcel_.members.emplace_back(list_.bad, fmt::format("member \"{}\"", key.substr(0, 40)));
    }
    handover_.Hand(parcel_);
  }

  /// Returns the end of the string that begins at `start`, behind its quote; -1 if there is none.
  int64_t FindStringEnd(int64_t start) {
    for (int64_t at = start + 1;; ++at) {
      if (at - start > kMostEventBytes || buffer_.Require(at, 1) == 0) return -1;
      if (*buffer_.At(at) == '"') return at + 1;
      if (*buffer_.At(at) == '\\') ++at;
    }
  }

  /// Returns the end of any value; -1 if the stream ends before.
  int64_t FindValueEnd(int64_t start) {
    const char first = *buffer_.At(start);
    if (first == '{' || first == '[') return FindBracketEnd(start);
    if (first == '"') return FindStringEnd(start);
    for (int64_t at = start;; ++at) {
      if (buffer_.Require(at, 1) == 0) return -1;
      const char c = *buffer_.At(at);
      if (IsBlank(c) || c == ',' || c == '}' || c == ']') return std::max(at, start + 1);
    }
  }

  /// Returns the end of an object or array; -1 if the stream ends before, after kMostEventBytes, or
  /// if it is longer than `look` and seems to swallow events.
  int64_t FindBracketEnd(int64_t start, int64_t look = kMostEventBytes) {
    constexpr auto kBlock = static_cast<int64_t>(BracketScan::kBlockBytes);
    BracketScan scan;
    for (int64_t at = start;; at += kBlock) {
      const size_t available = buffer_.Require(at, BracketScan::kBlockBytes);
      if (available == 0 || at - start > kMostEventBytes) return -1;
      // Bytes behind the end of the stream are blank.
      const size_t taken = scan.Next(buffer_.At(at));
      if (taken > 0) return at + static_cast<int64_t>(taken);
      if (at - start < look) continue;
      if (FindNextEvent(buffer_.View(start + 1, at), list_) != std::string_view::npos) return -1;
      look *= 16;
    }
  }

  /// Reads the events up to the closing bracket; false if the stream ends before it.
  bool ReadEvents() {
    while (true) {
      if (windows_alone_ <= 0 && window_.empty() && ThreadLimit() > 1 &&
          buffer_.End() - place_ <= kMostBytesRead) {
        HandBeside();
      }
      if (!SkipToEvent()) {
        if (HandWindow()) return false;
      } else if (Current() == ']') {
        if (!HandWindow()) continue;
        ++place_;
        return true;
      } else if (!TakeEvent()) {
        if (HandWindow() && !Resynchronise()) return false;
      }
    }
  }

  /// Moves past commas to the next event or bracket; false at the end. The window keeps blanks.
  bool SkipToEvent() {
    while (true) {
      if (window_.empty()) buffer_.Release(std::max<int64_t>(place_ - 1, 0));
      if (buffer_.Require(place_, BracketScan::kBlockBytes) == 0) return false;
      for (const char c : buffer_.View(place_, buffer_.End())) {
        if (!IsBlank(c) && c != ',') return true;
        ++place_;
      }
    }
  }

  /// Adds the event at place_ to the window; false if it has no end.
  bool TakeEvent() {
    const bool object = Current() == '{';
    const int64_t end = object ? FindBracketEnd(place_, kLongEventBytes) : FindValueEnd(place_);
    if (end < 0) return false;
    window_.push_back({place_, end});
    place_ = end;
    if (!object || end - window_.front().start >= kWindowBytes) HandWindow();
    return true;
  }

  struct Span {
    int64_t start;
    int64_t end;
  };

  /// Parses the events of the window and passes them on. Returns false if the last of them had
  /// swallowed others; place_ is then back at these.
  bool HandWindow() {
    if (window_.empty()) return true;
    const bool done = HandTogether() || HandEach();
    window_.clear();
    buffer_.Release(std::max<int64_t>(place_ - 1, 0));
    return done;
  }

  /// Parses them as one array.
  bool HandTogether() {
    --windows_alone_;
    parcel_.Clear();
    const int64_t start = window_.front().start - 1;
    for (const Span& span : window_) {
      parcel_.spans.push_back({static_cast<size_t>(span.start - start),
                               static_cast<size_t>(span.end - start), span.start});
    }
    char* const text = buffer_.At(start);
    parcel_.text = {text, static_cast<size_t>(window_.back().end + 1 - start)};
    parcel_.ParseWindow(text);
    if (parcel_.is_window) handover_.Hand(parcel_);
    return parcel_.is_window;
  }

  /// Hands windows of whole events on while other threads parse the next ones. Ends before what
  /// needs the plain way, with place_ there.
  void HandBeside() {
    const auto threads = static_cast<size_t>(ThreadLimit() - 1);
    WindowCutter cutter(&buffer_, place_, kWindowBytes, kLongEventBytes);
    std::vector<CutWindow> windows((threads + 1) * kItemsOfThread);
    int handed = 0;
    std::optional<int64_t> unread;  // Where a window that is no array begins.
    Team team(threads);
    DoInStages(&team, windows.size(),
               {.begin = [&](size_t place) { return cutter.Cut(&windows[place]); },
                .make = [&](size_t place) { windows[place].Parse(); },
                .go_on =
                    [&](size_t place, size_t) {
                      const EventParcel& parcel = windows[place].parcel;
                      if (!parcel.is_window) unread = parcel.spans.front().place;
                      if (unread) return false;
                      handover_.Hand(parcel);
                      ++handed;
                      return true;
                    }});
    place_ = unread.value_or(cutter.place());
    cutter.GiveBack(place_, windows);
    alone_ = handed > alone_ ? kWindowsBeforeThreads : std::min(alone_ * 2, kMostWindowsAlone);
    windows_alone_ = alone_;
  }

  bool HandEach() {
    for (const Span& span : window_) {
      if (HandWhole(span)) continue;
      const size_t found = FindNextEvent(buffer_.View(span.start + 1, span.end), list_);
      const bool alone = found == std::string_view::npos;
      // A list of objects inside of an event looks like what it swallowed.
      if ((alone || span.end - span.start <= kMostNestedBytes) && HandMended(span)) continue;
      if (alone) {
        CountBad(span);
        continue;
      }
      ResumeAt(span.start, span.start + 1 + static_cast<int64_t>(found));
      return false;
    }
    return true;
  }

  bool HandWhole(const Span& span) {
    const auto size = static_cast<size_t>(span.end - span.start);
    parcel_.Clear();
    parcel_.text = buffer_.View(span.start, span.end);
    const bool parsed =
        IsParsed(parcel_.parser.parse(parcel_.text.data(), size, false).get(parcel_.value));
    if (parsed) parcel_.spans.push_back({0, size, span.start});
    handover_.Hand(parcel_);
    return parsed;
  }

  bool HandMended(const Span& span) {
    const std::string_view text = buffer_.View(span.start, span.end);
    parcel_.Clear();
    bool parsed = false;
    for (const JsonQuotes quotes : {JsonQuotes::kEscaped, JsonQuotes::kBare}) {
      const std::string mended = RepairJson(text, quotes);
      simdjson::dom::object object;
      parcel_.storage.assign(mended.begin(), mended.end());
      parcel_.text = {parcel_.storage.data(), parcel_.storage.size()};
      parsed = IsParsed(parcel_.parser.parse(mended).get(parcel_.value)) &&
               parcel_.value.get(object) == simdjson::SUCCESS;
      if (!parsed) continue;
      ++counts_.repaired;
      parcel_.spans.push_back({0, mended.size(), span.start});
      parcel_.counted.emplace_back(Reason::kRepairedEvent, span.start);
      break;
    }
    handover_.Hand(parcel_);
    return parsed;
  }

  void CountBad(const Span& span) {
    ++counts_.bad;
    parcel_.Clear();
    parcel_.counted.emplace_back(list_.bad, span.start);
    handover_.Hand(parcel_);
  }

  /// Resumes behind the event at place_, which has no end. Returns false if no other follows it in
  /// what was read.
  bool Resynchronise() {
    const int64_t end = buffer_.End();
    const size_t found = FindNextEvent(buffer_.View(std::min(place_, end), end), list_);
    if (found == std::string_view::npos) {
      LoseRest();
      return false;
    }
    ResumeAt(place_, place_ + static_cast<int64_t>(found));
    return true;
  }

  /// Hands or counts the event at `start`, which swallowed the one at `next`.
  void ResumeAt(int64_t start, int64_t next) {
    int64_t end = next;
    while (end > start && (IsBlank(*buffer_.At(end - 1)) || *buffer_.At(end - 1) == ',')) --end;
    if (!HandMended({start, end})) CountBad({start, end});
    place_ = next;
  }

  /// Gives up the rest of the stream.
  void LoseRest() { counts_.lost_bytes += SkipRest(); }

  /// Moves to the end of the stream and returns how many bytes that were.
  int64_t SkipRest() {
    const int64_t from = place_;
    while (buffer_.Release(place_), buffer_.Require(place_, StreamBuffer::kChunkBytes) > 0) {
      place_ = buffer_.End();
    }
    return place_ - from;
  }

  /// Reads behind the document to the end of the stream, which shows whether packed data is whole.
  void SkipTrailing() {
    while (SkipBlanks()) {
      if (Current() != '\0') {
        counts_.trailing_bytes = SkipRest();
        return;
      }
      ++place_;
    }
  }

  void CountLosses() {
    counts_.bytes = buffer_.End();
    std::string cut = source_.damage();
    if (counts_.truncated) {
      cut += fmt::format("{}the file ends early: {} bytes after the last whole event are lost",
                         cut.empty() ? "" : "; ", counts_.lost_bytes);
    }
    counts_.truncated = !cut.empty();
    if (!counts_.has_events) return;
    if (counts_.truncated) {
      SayLost(Reason::kFileCut, fmt::format("{}: {}", path_, cut));
    }
    counts_.trailing_bytes += source_.trailing_bytes();
    if (counts_.trailing_bytes > 0) {
      SayLost(Reason::kTrailingData, TrailingSentence(path_, counts_.trailing_bytes));
    }
  }

  void SayLost(Reason reason, std::string sentence) {
    if (list_.holds_kernels) {
      diagnostics_.CountFile(reason, std::move(sentence));
    } else {
      diagnostics_.Note(std::move(sentence));
    }
  }

  const JsonList& list_;
  StreamBuffer buffer_;
  ByteSource& source_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  EventHandover handover_;
  EventParcel parcel_;                         // Of the plain way.
  int windows_alone_ = kWindowsBeforeThreads;  // To be read the plain way before threads start.
  int alone_ = kWindowsBeforeThreads;
  std::vector<Span> window_;  // Events of traceEvents not passed on yet.
  int64_t place_ = 0;
  JsonEventCounts counts_;
};

constexpr std::string_view kEventKeys[] = {"\"ph\"",  "\"name\"", "\"cat\"", "\"ts\"",
                                           "\"pid\"", "\"tid\"",  "\"args\""};

}  // namespace

constexpr JsonList kTraceEvents = {.key = "traceEvents", .first_keys = kEventKeys};

JsonEventCounts ReadJsonEvents(ByteSource* source, const std::string& path,
                               JsonEventHandler* handler, Diagnostics* diagnostics,
                               const JsonList& list) {
  return DocumentReader(source, path, handler, diagnostics, list).Read();
}

}  // namespace oplens::parse
