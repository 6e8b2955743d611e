#include "oplens/model_facts.h"

#include <cstddef>

namespace oplens::screen {

ModelFacts ModelFactsOf(const prof::KeptRows& rows, std::string_view rank, double times) {
  ModelFacts facts;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.Text(i, "rank") != rank) continue;
    const std::string_view counts = rows.Text(i, "counts");
    if (counts == "products") {
      facts.peak_tflops = rows.Number(i, "peak_tflops");
      facts.token_flops = rows.Number(i, "token_flops");
    } else if (counts == "type") {
      facts.types.emplace_back(rows.Text(i, "name"));
    } else if (counts == "total") {
      facts.difference_pct = rows.Number(i, "difference_pct");
      facts.why = rows.Text(i, "note");
    } else if (counts.size() == 1) {  // A convention with an MFU.
      if (const std::optional<double> pct = rows.Number(i, "mfu_pct")) {
        facts.uses.push_back({std::string(counts), *pct * times});
      } else if (facts.missing.empty()) {
        facts.missing = rows.Text(i, "note");
      }
    }
  }
  if (!facts.uses.empty()) facts.missing.clear();
  return facts;
}

}  // namespace oplens::screen
