#ifndef OPLENS_PROF_VIEWS_HTA_STREAM_TABLES_H_
#define OPLENS_PROF_VIEWS_HTA_STREAM_TABLES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// A row but for its rank: a number and a text as keys, then the figures.
struct HtaRow {
  int64_t stream = 0;
  std::string word;
  std::vector<std::optional<double>> figures;

  friend auto operator<=>(const HtaRow&, const HtaRow&) = default;
};

/// What is different of the four views.
struct HtaTable {
  std::string_view view;
  std::span<const Field> keys;  ///< Without the rank: `stream` and `word`, in this order.
  std::span<const Field> figures;
  std::vector<HtaRow> (*find)(const Trace& trace);
};

inline constexpr Field kHtaStreamField = {"stream", "Stream",     "",        FieldType::kInteger,
                                          8,        "of the GPU", Fold::kKey};

/// For each text of a trace whether it is one of `names`.
std::vector<bool> HtaNamed(const Trace& trace, std::span<const std::string_view> names);

// Of each view its table, by the rules of HolisticTraceAnalysis 0.6.0: figures of times in ns.

const HtaTable& HtaIdleTable();
const HtaTable& HtaLaunchesTable();
const HtaTable& HtaQueueTable();
const HtaTable& HtaBandwidthTable();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_HTA_STREAM_TABLES_H_
