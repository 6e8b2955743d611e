#ifndef OPLENS_REPORT_PAGE_SHELL_H_
#define OPLENS_REPORT_PAGE_SHELL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/output.h"

namespace oplens::report {

/// The page without content: the text before, between and after the two places for the title and
/// the data.
struct PageShell {
  static constexpr std::string_view kTitleMarker = "<!--oplens:title-->";
  static constexpr std::string_view kDataMarker = "<!--oplens:data-->";

  std::string_view head;
  std::string_view middle;  ///< After the title.
  std::string_view tail;    ///< After the data.

  size_t size() const { return head.size() + middle.size() + tail.size(); }
};

/// Splits a page at its markers into views of `page`. Throws Error unless each marker occurs once,
/// the title first.
PageShell SplitPage(std::string_view page);

/// The page built into this program.
std::string_view EmbeddedPage();

std::string EscapedForHtml(std::string_view text);

/// Escapes '<' in JSON, where it occurs only inside strings, because it could begin a tag.
std::string SafeJson(std::string_view json);

/// Writes a data block; `json` must be SafeJson.
void WriteJsonBlock(std::string_view id, std::string_view json, Output* output);
/// Writes bytes that are packed.
void WriteChunk(std::string_view id, std::string_view packed, Output* output);
/// The sizes in bytes that the two functions above write.
size_t JsonBlockBytes(std::string_view id, std::string_view json);
size_t ChunkBytes(std::string_view id, std::string_view packed);

/// The ids of blocks by number: "c0", "c1".
std::string ChunkId(size_t number);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_SHELL_H_
