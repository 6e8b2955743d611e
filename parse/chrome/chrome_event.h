#ifndef OPLENS_PARSE_CHROME_CHROME_EVENT_H_
#define OPLENS_PARSE_CHROME_CHROME_EVENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/output.h"

namespace oplens::parse {

/// Where the viewer draws an event: a process and a thread (or stream) of the document.
struct ChromeTrack {
  int64_t pid = 0;
  int64_t tid = 0;
};

/// Appends `ns` - `base_ns` in the format's unit: us with three decimals, so that no ns is lost.
void AppendMicroseconds(int64_t ns, int64_t base_ns, std::string* out);

class ChromeEvents {
 public:
  explicit ChromeEvents(Output* output) : output_(output) {}
  /// Writes the separator and returns the buffer for the next event.
  std::string* Next() {
    output_->FlushIfLarge();
    if (any_) output_->buffer()->append(",\n");
    any_ = true;
    return output_->buffer();
  }
  int64_t base_ns() const { return base_ns_; }  ///< Subtracted from every time.
  void set_base_ns(int64_t ns) { base_ns_ = ns; }

 private:
  Output* output_;
  int64_t base_ns_ = 0;
  bool any_ = false;
};

/// One event of a Chrome trace, written in order: its members, then its arguments, then End().
class ChromeEvent {
 public:
  /// `phase` is the format's letter: X slice, s and f ends of an arrow, C counter, i instant, M
  /// name of a track. `category` may be empty. Only one event may be open at a time.
  ChromeEvent(char phase, std::string_view category, std::string_view name, ChromeTrack track,
              ChromeEvents* events);

  ChromeEvent& At(int64_t ns);
  /// Start and length; a slice that ends before it starts has length 0.
  ChromeEvent& From(int64_t start_ns, int64_t end_ns);
  /// A member of the event: `id` of an arrow, `bp` (where it binds), `s` (extent of an instant).
  ChromeEvent& Member(std::string_view key, int64_t value);
  ChromeEvent& Member(std::string_view key, std::string_view value);

  ChromeEvent& Arg(std::string_view key, int64_t value);
  ChromeEvent& Arg(std::string_view key, std::string_view value);
  /// With two decimals.
  ChromeEvent& Arg(std::string_view key, double value);
  ChromeEvent& Flag(std::string_view key);
  ChromeEvent& List(std::string_view key, std::span<const int32_t> values);
  ChromeEvent& List(std::string_view key, std::span<const std::string_view> values);
  /// Arguments that are JSON already: `"flops":128,"tc":1`.
  ChromeEvent& Args(std::string_view members);
  /// Omits the argument if the text is empty or the number negative.
  ChromeEvent& ArgIfKnown(std::string_view key, int64_t value);
  ChromeEvent& ArgIfKnown(std::string_view key, std::string_view value);

  void End();

 private:
  void Key(std::string_view key);
  void ArgKey(std::string_view key);

  std::string* out_;
  int64_t base_ns_;
  bool in_arguments_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_EVENT_H_
