#ifndef OPLENS_REPORT_PAGE_SHELL_H_
#define OPLENS_REPORT_PAGE_SHELL_H_

#include <string>
#include <string_view>

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

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_SHELL_H_
