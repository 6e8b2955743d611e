#ifndef OPLENS_REPORT_PAGE_SHELL_H_
#define OPLENS_REPORT_PAGE_SHELL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/output.h"

namespace oplens::report {

/// The page without what it shows: the text before, between and behind the two places where that
/// goes.
struct PageShell {
  static constexpr std::string_view kTitleMarker = "<!--oplens:title-->";
  static constexpr std::string_view kDataMarker = "<!--oplens:data-->";

  std::string_view head;
  std::string_view middle;  ///< Behind the title.
  std::string_view tail;    ///< Behind the data.

  size_t size() const { return head.size() + middle.size() + tail.size(); }
};

/// Splits a page at its markers. Throws Error unless each is there once, the title first. The parts
/// point into `page`.
PageShell SplitPage(std::string_view page);

/// The page that this program was built with.
std::string_view EmbeddedPage();

/// A text for the place of the title.
std::string EscapedForHtml(std::string_view text);

/// JSON without '<', which stands in texts only, and would begin a tag.
std::string SafeJson(std::string_view json);

/// Writes a data block of such JSON.
void WriteJsonBlock(std::string_view id, std::string_view json, Output* output);
/// Writes the block "c<number>" of packed bytes.
void WriteChunk(size_t number, std::string_view packed, Output* output);
/// What the two write, in bytes.
size_t JsonBlockBytes(std::string_view id, std::string_view json);
size_t ChunkBytes(size_t number, std::string_view packed);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_SHELL_H_
