#include <string_view>

#include "base/error.h"
#include "engine/run.h"
#include "prof/table/kept_rows.h"

// Questions about a run. Returns the number of rows that were wrong.
int AskRun(const char* path) {
  oplens::engine::Run run({path});
  oplens::prof::KeptTables tables;
  oplens::Messages messages("consumer");
  run.Ask({.view = "operators", .by = "layer", .top = 2}, &tables, &messages);
  run.Ask({.where = "dir=bprop", .columns = "op,sil"}, &tables, &messages);
  const oplens::prof::KeptRows& operators = tables.At(0);
  const oplens::prof::KeptRows& kernels = tables.At(1);
  // Two, and a row of all others.
  if (operators.name() != "operators" || operators.size() != 3 || kernels.size() == 0) return 1;
  int wrong = 0;
  for (size_t row = 0; row < kernels.size(); ++row) wrong += kernels.Count(row, "sil") > 0 ? 0 : 1;
  try {
    run.Ask({.view = "operatorz"}, &tables, &messages);
    return wrong + 1;
  } catch (const oplens::UsageError& error) {
    return wrong + (std::string_view(error.what()).find("operators") == std::string::npos);
  }
}
