#ifndef OPLENS_ENGINE_QUERY_OPTIONS_H_
#define OPLENS_ENGINE_QUERY_OPTIONS_H_

#include <string>
#include <vector>

#include "engine/query.h"

namespace oplens::prof {
struct Options;
}

namespace oplens::engine {

/// What `prof` makes of these words. `opened`: of Run(). Throws UsageError for wrong ones.
prof::Options OptionsOf(const std::vector<std::string>& paths, const Words& opened,
                        const Query& query);

/// As above with a first word of `prof` that asks for another task, such as {"diff", "base.json"}.
/// `more` may then hold any option of that task.
prof::Options OptionsOfTask(const std::vector<std::string>& paths, const Words& opened,
                            const Words& more);

}  // namespace oplens::engine

#endif  // OPLENS_ENGINE_QUERY_OPTIONS_H_
