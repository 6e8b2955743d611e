#include "parse/chrome/chrome_event.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/append_format.h"
#include "base/json_text.h"

namespace oplens::parse {
namespace {

void AppendUnsignedMicroseconds(uint64_t ns, std::string* out) {
  AppendFormat(out, "{}.{:03}", ns / 1000, ns % 1000);
}

}  // namespace

void AppendMicroseconds(int64_t ns, int64_t base_ns, std::string* out) {
  // Any difference of two int64_t fits into a sign and an unsigned number.
  if (ns < base_ns) out->push_back('-');
  const auto [low, high] = std::minmax(ns, base_ns);
  AppendUnsignedMicroseconds(static_cast<uint64_t>(high) - static_cast<uint64_t>(low), out);
}

ChromeEvent::ChromeEvent(char phase, std::string_view category, std::string_view name,
                         ChromeTrack track, ChromeEvents* events)
    : out_(events->Next()), base_ns_(events->base_ns()) {
  out_->append(R"({"ph":")").push_back(phase);
  out_->push_back('"');
  if (!category.empty()) Member("cat", category);
  Member("name", name);
  Member("pid", track.pid);
  Member("tid", track.tid);
}

ChromeEvent& ChromeEvent::At(int64_t ns) {
  Key("ts");
  AppendMicroseconds(ns, base_ns_, out_);
  return *this;
}

ChromeEvent& ChromeEvent::From(int64_t start_ns, int64_t end_ns) {
  At(start_ns);
  Key("dur");
  const uint64_t length =
      end_ns > start_ns ? static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(start_ns) : 0;
  AppendUnsignedMicroseconds(length, out_);
  return *this;
}

ChromeEvent& ChromeEvent::Member(std::string_view key, int64_t value) {
  Key(key);
  AppendInteger(value, out_);
  return *this;
}

ChromeEvent& ChromeEvent::Member(std::string_view key, std::string_view value) {
  Key(key);
  AppendJsonString(value, out_);
  return *this;
}

ChromeEvent& ChromeEvent::Arg(std::string_view key, int64_t value) {
  ArgKey(key);
  AppendInteger(value, out_);
  return *this;
}

ChromeEvent& ChromeEvent::Arg(std::string_view key, std::string_view value) {
  ArgKey(key);
  AppendJsonString(value, out_);
  return *this;
}

ChromeEvent& ChromeEvent::Arg(std::string_view key, double value) {
  ArgKey(key);
  AppendFormat(out_, "{:.2f}", value);
  return *this;
}

ChromeEvent& ChromeEvent::Flag(std::string_view key) {
  ArgKey(key);
  out_->append("true");
  return *this;
}

ChromeEvent& ChromeEvent::Args(std::string_view members) {
  if (members.empty()) return *this;
  out_->append(in_arguments_ ? "," : ",\"args\":{").append(members);
  in_arguments_ = true;
  return *this;
}

ChromeEvent& ChromeEvent::List(std::string_view key, std::span<const int32_t> values) {
  ArgKey(key);
  out_->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_->push_back(',');
    AppendInteger(values[i], out_);
  }
  out_->push_back(']');
  return *this;
}

ChromeEvent& ChromeEvent::List(std::string_view key, std::span<const std::string_view> values) {
  ArgKey(key);
  out_->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_->push_back(',');
    AppendJsonString(values[i], out_);
  }
  out_->push_back(']');
  return *this;
}

ChromeEvent& ChromeEvent::ArgIfKnown(std::string_view key, int64_t value) {
  return value < 0 ? *this : Arg(key, value);
}

ChromeEvent& ChromeEvent::ArgIfKnown(std::string_view key, std::string_view value) {
  return value.empty() ? *this : Arg(key, value);
}

void ChromeEvent::End() { out_->append(in_arguments_ ? "}}" : "}"); }

void ChromeEvent::Key(std::string_view key) { out_->append(",\"").append(key).append("\":"); }

void ChromeEvent::ArgKey(std::string_view key) {
  out_->append(in_arguments_ ? ",\"" : ",\"args\":{\"").append(key).append("\":");
  in_arguments_ = true;
}

}  // namespace oplens::parse
