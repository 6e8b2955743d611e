#ifndef OPLENS_PROF_TABLE_FLAME_GRAPH_H_
#define OPLENS_PROF_TABLE_FLAME_GRAPH_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/output.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// A picture of folded stacks, lines of "outer;inner 120" with a time in ns: one SVG without
/// scripts, in which every frame has its whole name as text and as a tooltip. `title`: what the
/// times are. At most kMostFlameFrames frames in kMostFlameLevels levels are drawn; what is too
/// small or too deep is merged, and a line says how much. A line that is no stack is left out and
/// counted there.
std::string FlameGraph(std::string_view stacks, std::string_view title);

inline constexpr size_t kMostFlameFrames = 3000;
inline constexpr size_t kMostFlameLevels = 256;

/// Draws the document of a view. Begin throws UsageError: rows have no picture.
std::unique_ptr<Sink> MakeFlameSink(Output* output, std::string title);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FLAME_GRAPH_H_
