
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "base/output.h"
#include "base/utf8.h"
#include "prof/gate/gate_output.h"

namespace oplens::prof {
namespace {

/// Replaces what XML 1.0 does not allow: control characters except line ends, U+FFFE and U+FFFF.
std::string XmlText(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    AppendUtf8(text.substr(0, end), Utf8Hidden::kControls, &out);
    if (end == text.size()) break;
    out.push_back('\n');
    text.remove_prefix(end + 1);
  }
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (size_t at = out.find(none); at != std::string::npos; at = out.find(none, at)) {
      out.replace(at, none.size(), "_");
    }
  }
  return out;
}

void Set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(XmlText(value).c_str());
}

std::string JunitLineOf(const GateItem& item, const GateRow& row) {
  const auto side = [&](const std::optional<double>& value) {
    return value ? AmountText(*value, item.unit) : std::string("nothing");
  };
  return fmt::format("{}: {} -> {}\n", row.name, side(row.figure.base), side(row.figure.now));
}

/// The rows that broke it, one per line.
std::string JunitRowsOf(const GateItem& item) {
  std::string text = item.message + "\n";
  for (const GateRow& row : item.rows) text += JunitLineOf(item, row);
  if (item.more_rows > 0) text += fmt::format("and {} more rows\n", item.more_rows);
  return text;
}

void AddCase(const GateItem& item, pugi::xml_node suite) {
  pugi::xml_node node = suite.append_child("testcase");
  Set(node, "name", item.expression);
  Set(node, "classname", item.view.empty() ? "oplens.gate" : "oplens.gate." + item.view);
  Set(node, "time", "0");
  if (item.outcome == GateOutcome::kHolds) return;
  const bool broken = item.outcome == GateOutcome::kBroken;
  pugi::xml_node said = node.append_child(broken ? "failure" : "error");
  Set(said, "type", WordOf(item.outcome));
  Set(said, "message", item.message);
  said.text().set(XmlText(JunitRowsOf(item)).c_str());
}

struct TextWriter : pugi::xml_writer {
  void write(const void* data, size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
  std::string text;
};

}  // namespace

std::string JunitText(const GateResult& result) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  Set(declaration, "version", "1.0");
  Set(declaration, "encoding", "UTF-8");
  const auto count = [&](GateOutcome outcome) {
    return std::to_string(std::ranges::count(result.items, outcome, &GateItem::outcome));
  };
  const auto add = [&](pugi::xml_node parent, const char* element, std::string_view name) {
    pugi::xml_node node = parent.append_child(element);
    Set(node, "name", name);
    Set(node, "tests", std::to_string(result.items.size()));
    Set(node, "failures", count(GateOutcome::kBroken));
    Set(node, "errors", count(GateOutcome::kNoData));
    Set(node, "time", "0");
    return node;
  };
  const pugi::xml_node suites = add(document, "testsuites", "oplens");
  const pugi::xml_node suite = add(suites, "testsuite", result.name);
  for (const GateItem& item : result.items) AddCase(item, suite);
  TextWriter writer;
  document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  return std::move(writer.text);
}

void WriteJunit(const GateResult& result, const std::string& path) {
  Output output(path);
  output.Write(JunitText(result));
  output.Commit();
}

}  // namespace oplens::prof
