#ifndef OPLENS_PROF_RUN_TB_NAMES_H_
#define OPLENS_PROF_RUN_TB_NAMES_H_

#include <cstdint>
#include <string_view>

#include "parse/model/trace.h"

namespace oplens::prof {

// What the TensorBoard plugin takes a host event for, by its name.

/// Names of steps begin so.
inline constexpr std::string_view kTbStep = "ProfilerStep#";

/// Whether a host event stands in the tree at all: of annotations only a few do.
bool IsTbNode(TorchEvent::Kind kind, std::string_view name);

/// What stands in the tree, as far as the diff view of the plugin goes by it.
enum class TbKind : uint8_t { kOther, kStep, kModule, kDataLoader, kOptimizer };
/// "", "step", "module", ...
std::string_view WordOf(TbKind kind);
/// Of an event for which IsTbNode holds.
TbKind TbKindOf(TorchEvent::Kind kind, std::string_view name);

/// Whether an event of the category of operators is one in the operator view.
bool IsTbOperator(std::string_view name);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TB_NAMES_H_
