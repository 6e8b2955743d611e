#ifndef OPLENS_PROF_VIEWS_GROUPS_H_
#define OPLENS_PROF_VIEWS_GROUPS_H_

#include <memory>
#include <span>
#include <vector>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view `groups`: kernels that are alike in the keys of --by (without it by kernel).
std::unique_ptr<Partial> MakeGroups(const ViewOptions& options);
/// As View::make_together: what is asked of each kernel is found once.
std::vector<std::unique_ptr<Partial>> MakeGroupsTogether(std::span<const ViewOptions> options);
std::span<const Field> GroupsFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GROUPS_H_
