#include "report/page_shell.h"

#include <fmt/format.h>

#include "base/error.h"

namespace oplens::report {
namespace {

/// Where a marker is.
size_t PlaceOf(std::string_view marker, std::string_view page) {
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
  const size_t title = PlaceOf(PageShell::kTitleMarker, page);
  const size_t data = PlaceOf(PageShell::kDataMarker, page);
  if (data < title) throw Error("the built-in page has its data before its title");
  const size_t behind_title = title + PageShell::kTitleMarker.size();
  return {page.substr(0, title), page.substr(behind_title, data - behind_title),
          page.substr(data + PageShell::kDataMarker.size())};
}

}  // namespace oplens::report
