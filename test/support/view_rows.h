#ifndef OPLENS_TEST_SUPPORT_VIEW_ROWS_H_
#define OPLENS_TEST_SUPPORT_VIEW_ROWS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/views/collectives/collective_set.h"
#include "prof/views/common/view.h"

namespace oplens::test {

/// One row of a view as texts by key; an unknown value is "". Decimals have 17 digits.
using ViewRow = std::map<std::string, std::string>;

/// The view of kViews with that name.
const prof::View& ViewNamed(std::string_view name);

/// The view of that name by the rules of a word of --compat.
const prof::View& ViewBy(std::string_view rules, std::string_view name);

/// The rows of a partial.
std::vector<ViewRow> RowsOf(const prof::Partial& partial);

/// What a view finds out of profiles (files or folders): the partials of all, merged, before
/// AddCalls; and the calls of collectives, where it takes them.
struct FoundInProfiles {
  std::unique_ptr<prof::Partial> partial;
  prof::CollectiveSet calls;
};
FoundInProfiles FindIn(const prof::View& view, const std::vector<std::string>& paths,
                       const prof::ViewOptions& options = {});

/// Gives a partial the calls of all ranks.
void GiveCalls(const prof::CollectiveSet& calls, prof::Partial* partial);

/// The partial of these, with the calls given.
std::unique_ptr<prof::Partial> PartialOf(const prof::View& view,
                                         const std::vector<std::string>& paths,
                                         const prof::ViewOptions& options = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_VIEW_ROWS_H_
