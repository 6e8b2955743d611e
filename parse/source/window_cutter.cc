#include "parse/source/window_cutter.h"

#include <cstring>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "parse/source/bracket_scan.h"

namespace oplens::parse {
namespace {

/// Behind the bytes of a window: blocks that are scanned, and what simdjson may read.
constexpr size_t kRoomBehind = BracketScan::kBlockBytes + simdjson::SIMDJSON_PADDING;

/// The end of the object that begins at `start`, at most `most` bytes behind it; 0 if it has none
/// before `size`. There are kRoomBehind blanks behind the bytes.
size_t EndOfObject(const char* bytes, size_t size, size_t start, size_t most) {
  BracketScan scan;
  for (size_t at = start; at < size && at - start <= most; at += BracketScan::kBlockBytes) {
    const size_t taken = scan.Next(bytes + at);
    if (taken > 0) return at + taken - start <= most ? at + taken : 0;
  }
  return 0;
}

}  // namespace

WindowCutter::WindowCutter(StreamBuffer* buffer, int64_t place, size_t window_bytes,
                           size_t most_event_bytes)
    : buffer_(*buffer),
      window_bytes_(window_bytes),
      most_event_bytes_(most_event_bytes),
      begin_(place - 1) {
  const std::string_view there = buffer_.View(begin_, buffer_.End());
  rest_.assign(there.begin(), there.end());
}

bool WindowCutter::Cut(CutWindow* window) {
  std::vector<char>& bytes = window->parcel.storage;
  window->parcel.Clear();
  window->begin = begin_;
  window->size = 0;
  const size_t room = rest_.size() + window_bytes_ + kRoomBehind;
  if (bytes.size() < room) bytes.resize(room);
  std::memcpy(bytes.data(), rest_.data(), rest_.size());
  window->size = rest_.size();
  if (rest_.size() < window_bytes_) {
    try {
      window->size += buffer_.ReadPast(bytes.data() + rest_.size(), window_bytes_);
    } catch (...) {
      return false;  // The buffer fails again, behind the events up to here.
    }
  }
  std::memset(bytes.data() + window->size, ' ', kRoomBehind);
  FindEvents(window);
  const std::vector<EventParcel::Span>& spans = window->parcel.spans;
  if (spans.empty()) return false;
  const size_t cut = window->text_begin + spans.back().end;
  begin_ += static_cast<int64_t>(cut) - 1;
  rest_.assign(bytes.data() + cut - 1, bytes.data() + window->size);
  return true;
}

void WindowCutter::FindEvents(CutWindow* window) const {
  const char* const bytes = window->parcel.storage.data();
  std::vector<EventParcel::Span>& spans = window->parcel.spans;
  // The first byte is one before the events, of another window.
  for (size_t at = 1;;) {
    while (at < window->size && (IsBlank(bytes[at]) || bytes[at] == ',')) ++at;
    if (at >= window->size || bytes[at] != '{') break;
    const size_t end = EndOfObject(bytes, window->size, at, most_event_bytes_);
    if (end == 0) break;
    if (spans.empty()) window->text_begin = at - 1;
    spans.push_back({at - window->text_begin, end - window->text_begin,
                     window->begin + static_cast<int64_t>(at)});
    at = end;
  }
  if (spans.empty()) return;
  window->parcel.text = {bytes + window->text_begin, spans.back().end + 1};
}

void WindowCutter::GiveBack(int64_t place, std::span<const CutWindow> windows) {
  std::string bytes;
  int64_t end = place - 1;
  const auto take = [&](const char* from, size_t size, int64_t begin) {
    const int64_t its_end = begin + static_cast<int64_t>(size);
    if (begin > end || its_end <= end) return false;
    bytes.append(from + (end - begin), from + size);
    end = its_end;
    return true;
  };
  for (bool more = true; more;) {
    more = take(rest_.data(), rest_.size(), begin_);
    for (const CutWindow& window : windows) {
      more |= take(window.parcel.storage.data(), window.size, window.begin);
    }
  }
  buffer_.Restart(place - 1, bytes);
}

}  // namespace oplens::parse
