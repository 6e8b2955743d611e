#ifndef OPLENS_PYTHON_OUTPUTS_H_
#define OPLENS_PYTHON_OUTPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status_line.h"
#include "engine/run.h"
#include "prof/table/arrow_table.h"

namespace oplens::python {

/// What was said beside an answer, in sentences.
struct Told {
  std::vector<std::string> notes;  ///< All of it, as `prof -v` prints it.
  std::vector<std::string> lost;   ///< Of these: what was damaged, lost or left out.
};

Told ToldOf(Messages* messages, const std::vector<std::string>& left_out);

// Each throws as engine::Run::Ask does.

/// The screen of `oplens FILE`.
std::string ScreenOf(engine::Run* run, bool markdown, Told* told, WorkMeter* meter);

/// Writes the page of `report`; `words`: its options by their names, such as title and limit.
void WritePage(engine::Run* run, const std::string& path, const engine::Words& words, Told* told,
               WorkMeter* meter);

/// Writes the timeline of `oplens timeline`; `columns`: of kernels, "": their costs.
void WriteTimeline(engine::Run* run, const std::string& path, const std::string& columns,
                   Told* told, WorkMeter* meter);

/// Compares two runs as `oplens diff --json`, by tables; `text`: what it says of the runs.
void MakeDiff(const engine::Run& base, const engine::Run& now, const engine::Words& words,
              prof::ArrowTables* tables, std::string* text, Told* told, WorkMeter* meter);

}  // namespace oplens::python

#endif  // OPLENS_PYTHON_OUTPUTS_H_
