#include "report/page_shell.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "report/data/pack.h"

namespace oplens::report {
namespace {

constexpr std::string_view kJsonBegin = "<script type=\"application/json\" id=\"";
constexpr std::string_view kChunkBegin = "<script type=\"application/octet-stream\" id=\"";
constexpr std::string_view kNamed = "\">";
constexpr std::string_view kEnd = "</script>\n";

size_t PageShellPlaceOf(std::string_view marker, std::string_view page) {
  const size_t place = page.find(marker);
  if (place == std::string_view::npos || page.find(marker, place + 1) != std::string_view::npos) {
    throw Error(
        fmt::format("the built-in page does not have {} once: build oplens again, or "
                    "report/page",
                    marker));
  }
  return place;
}

}  // namespace

PageShell SplitPage(std::string_view page) {
  const size_t title = PageShellPlaceOf(PageShell::kTitleMarker, page);
  const size_t data = PageShellPlaceOf(PageShell::kDataMarker, page);
  if (data < title) throw Error("the built-in page has its data before its title");
  const size_t behind_title = title + PageShell::kTitleMarker.size();
  return {page.substr(0, title), page.substr(behind_title, data - behind_title),
          page.substr(data + PageShell::kDataMarker.size())};
}

std::string EscapedForHtml(std::string_view text) {
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kNothing, &valid);
  std::string escaped;
  for (const char c : valid) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // HTML cannot represent NUL.
        escaped += c == '\0' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
    }
  }
  return escaped;
}

std::string SafeJson(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe.append("\\u003c");
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

void WriteJsonBlock(std::string_view id, std::string_view json, Output* output) {
  for (const std::string_view part : {kJsonBegin, id, kNamed, json, kEnd}) output->Write(part);
}

void WriteChunk(std::string_view id, std::string_view packed, Output* output) {
  std::string* out = output->buffer();
  for (const std::string_view part : {kChunkBegin, id, kNamed}) out->append(part);
  AppendBase64(packed, out);
  out->append(kEnd);
  output->FlushIfLarge();
}

size_t JsonBlockBytes(std::string_view id, std::string_view json) {
  return kJsonBegin.size() + id.size() + kNamed.size() + json.size() + kEnd.size();
}

size_t ChunkBytes(std::string_view id, std::string_view packed) {
  return kChunkBegin.size() + id.size() + kNamed.size() + Base64Length(packed.size()) + kEnd.size();
}

std::string ChunkId(size_t number) { return fmt::format("c{}", number); }

}  // namespace oplens::report
