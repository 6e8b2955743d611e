#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "parse/model/kernel_record.h"

namespace oplens {
namespace {

void AppendInt(int64_t value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out->append(digits, end);
}

void AppendOptionalInt(const std::optional<int64_t>& value, std::string* out) {
  if (value) {
    AppendInt(*value, out);
  } else {
    out->append("None");
  }
}

void AppendHex(std::string_view prefix, unsigned value, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->append(prefix);
  out->push_back(kDigits[value >> 4]);
  out->push_back(kDigits[value & 15]);
}

/// Escapes what cannot stand in a Python literal between `quote`s. Control characters, C1 controls
/// and the Unicode line separators are escaped, so that one record stays one line for every reader.
void AppendEscaped(std::string_view text, char quote, std::string* out) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if (c == '\\' || c == static_cast<unsigned char>(quote)) {
        out->push_back('\\');
        out->push_back(text[i]);
      } else if (c == '\n') {
        out->append("\\n");
      } else if (c == '\r') {
        out->append("\\r");
      } else if (c == '\t') {
        out->append("\\t");
      } else if (c < 0x20 || c == 0x7F) {
        AppendHex("\\x", c, out);
      } else {
        out->push_back(text[i]);
      }
      ++i;
      continue;
    }
    const size_t length = Utf8Length(text, i);
    if (length == 0) {
      AppendHex("\\udc", c, out);
      ++i;
    } else if (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      AppendHex("\\x", static_cast<unsigned char>(text[i + 1]), out);
      i += 2;
    } else if (text.substr(i, 2) == "\xE2\x80" &&
               (text[i + 2] == '\xA8' || text[i + 2] == '\xA9')) {
      AppendHex("\\u20", static_cast<unsigned char>(text[i + 2]) - 0x80u, out);
      i += 3;
    } else {
      out->append(text.substr(i, length));
      i += length;
    }
  }
}

/// Appends `text` as Python's repr writes it: single quotes, unless it holds one and no double
/// quote.
void AppendString(std::string_view text, std::string* out) {
  // One pass that the compiler vectorises; nearly every text needs no escape.
  bool single = false;
  bool twofold = false;
  bool special = false;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    single |= c == '\'';
    twofold |= c == '"';
    special |= (c < 0x20) | (c >= 0x7F) | (c == '\\');
  }
  const char quote = single && !twofold ? '"' : '\'';
  out->push_back(quote);
  if (special || (single && twofold)) {
    AppendEscaped(text, quote, out);
  } else {
    out->append(text);
  }
  out->push_back(quote);
}

void AppendOptionalString(const std::optional<std::string_view>& text, std::string* out) {
  if (text) {
    AppendString(*text, out);
  } else {
    out->append("None");
  }
}

void AppendStrings(const std::vector<std::string_view>& texts, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendString(texts[i], out);
  }
  out->push_back(']');
}

void AppendInts(const std::vector<int64_t>& values, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendInt(values[i], out);
  }
  out->push_back(']');
}

void AppendDim(const Dim3& dim, std::string* out) {
  out->push_back('(');
  AppendInt(dim.x, out);
  out->append(", ");
  AppendInt(dim.y, out);
  out->append(", ");
  AppendInt(dim.z, out);
  out->push_back(')');
}

void AppendReasons(ReasonSet reasons, std::string* out) {
  out->push_back('[');
  bool first = true;
  reasons.ForEach([&](Reason reason) {
    if (!first) out->append(", ");
    first = false;
    AppendString(ReasonWord(reason), out);
  });
  out->push_back(']');
}

nlohmann::ordered_json JsonOf(const std::optional<int64_t>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json JsonOf(const std::optional<std::string_view>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
}

}  // namespace

void AppendDictLine(const KernelRecord& record, std::string* out) {
  out->append("{'kShortName': ");
  AppendString(record.short_name, out);
  out->append(", 'kDuration': ");
  AppendInt(record.duration_ns, out);
  out->append(", 'layer': ");
  AppendStrings(record.layer, out);
  out->append(", 'trace': ");
  AppendStrings(record.trace, out);
  out->append(", 'reprMarkers': ");
  AppendStrings(record.repr_markers, out);
  out->append(", 'marker': ");
  AppendStrings(record.markers, out);
  out->append(", 'seqMarker': ");
  AppendStrings(record.seq_markers, out);
  out->append(", 'seqId': ");
  AppendInts(record.seq_ids, out);
  out->append(", 'subSeqId': ");
  AppendInt(record.sub_seq_id, out);
  out->append(", 'altSeqId': ");
  AppendInts(record.alt_seq_ids, out);
  out->append(", 'dir': ");
  AppendString(DirectionWord(record.direction), out);
  out->append(", 'mod': ");
  AppendStrings(record.mod, out);
  out->append(", 'op': ");
  AppendStrings(record.op, out);
  out->append(", 'tid': ");
  AppendInt(record.thread_id, out);
  out->append(", 'device': ");
  AppendInt(record.device_id, out);
  out->append(", 'stream': ");
  AppendInt(record.stream_id, out);
  out->append(", 'grid': ");
  AppendDim(record.grid, out);
  out->append(", 'block': ");
  AppendDim(record.block, out);
  out->append(", 'kLongName': ");
  AppendString(record.long_name, out);
  out->append(", 'kStart': ");
  AppendOptionalInt(record.start_ns, out);
  out->append(", 'kEnd': ");
  AppendOptionalInt(record.end_ns, out);
  out->append(", 'corrId': ");
  AppendOptionalInt(record.correlation_id, out);
  out->append(", 'pid': ");
  AppendOptionalInt(record.process_id, out);
  out->append(", 'context': ");
  AppendOptionalInt(record.context_id, out);
  out->append(", 'registers': ");
  AppendOptionalInt(record.registers_per_thread, out);
  out->append(", 'staticSharedMemory': ");
  AppendOptionalInt(record.static_shared_memory_bytes, out);
  out->append(", 'dynamicSharedMemory': ");
  AppendOptionalInt(record.dynamic_shared_memory_bytes, out);
  out->append(", 'launch': ");
  AppendOptionalString(record.launch_api, out);
  out->append(", 'launchStart': ");
  AppendOptionalInt(record.launch_start_ns, out);
  out->append(", 'launchEnd': ");
  AppendOptionalInt(record.launch_end_ns, out);
  out->append(", 'deviceName': ");
  AppendOptionalString(record.device_name, out);
  out->append(", 'range': ");
  AppendStrings(record.range, out);
  out->append(", 'rangeCut': ");
  AppendInt(record.range_cut, out);
  out->append(", 'markerStart': ");
  AppendInts(record.marker_starts_ns, out);
  out->append(", 'reason': ");
  AppendReasons(record.reasons, out);
  out->append("}\n");
}

void AppendJsonLine(const KernelRecord& record, std::string* out) {
  const auto dim = [](const Dim3& d) { return nlohmann::ordered_json{d.x, d.y, d.z}; };
  auto reasons = nlohmann::ordered_json::array();
  record.reasons.ForEach([&](Reason reason) { reasons.push_back(ReasonWord(reason)); });
  const nlohmann::ordered_json line = {
      {"kShortName", record.short_name},
      {"kDuration", record.duration_ns},
      {"layer", record.layer},
      {"trace", record.trace},
      {"reprMarkers", record.repr_markers},
      {"marker", record.markers},
      {"seqMarker", record.seq_markers},
      {"seqId", record.seq_ids},
      {"subSeqId", record.sub_seq_id},
      {"altSeqId", record.alt_seq_ids},
      {"dir", DirectionWord(record.direction)},
      {"mod", record.mod},
      {"op", record.op},
      {"tid", record.thread_id},
      {"device", record.device_id},
      {"stream", record.stream_id},
      {"grid", dim(record.grid)},
      {"block", dim(record.block)},
      {"kLongName", record.long_name},
      {"kStart", JsonOf(record.start_ns)},
      {"kEnd", JsonOf(record.end_ns)},
      {"corrId", JsonOf(record.correlation_id)},
      {"pid", JsonOf(record.process_id)},
      {"context", JsonOf(record.context_id)},
      {"registers", JsonOf(record.registers_per_thread)},
      {"staticSharedMemory", JsonOf(record.static_shared_memory_bytes)},
      {"dynamicSharedMemory", JsonOf(record.dynamic_shared_memory_bytes)},
      {"launch", JsonOf(record.launch_api)},
      {"launchStart", JsonOf(record.launch_start_ns)},
      {"launchEnd", JsonOf(record.launch_end_ns)},
      {"deviceName", JsonOf(record.device_name)},
      {"range", record.range},
      {"rangeCut", record.range_cut},
      {"markerStart", record.marker_starts_ns},
      {"reason", std::move(reasons)},
  };
  out->append(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out->push_back('\n');
}

}  // namespace oplens
