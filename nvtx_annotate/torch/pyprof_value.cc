#include "nvtx_annotate/torch/pyprof_value.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace oplens::annotate::torch {
namespace {

using PyprofValueKind = PyprofValue::Kind;

void AppendInt(int64_t value, std::string* out) { out->append(std::to_string(value)); }

void AppendFloat(double value, std::string* out) {
  if (std::isnan(value)) return out->append("'nan'"), void();
  if (std::isinf(value)) return out->append(value < 0 ? "'-inf'" : "'inf'"), void();
  char buffer[32];
  char* end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<size_t>(end - buffer));
  const size_t e = scientific.find('e');
  int exponent = 0;
  const size_t digits = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + digits, end, exponent);
  if (exponent < -4 || exponent >= 16) return out->append(scientific), void();
  char plain[64];
  end = std::to_chars(plain, std::end(plain), value, std::chars_format::fixed).ptr;
  const std::string_view text(plain, static_cast<size_t>(end - plain));
  out->append(text);
  if (text.find('.') == text.npos) out->append(".0");
}

void AppendString(std::string_view text, std::string* out) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  out->push_back(quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out->append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (byte < 0x20 || byte >= 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      out->append("\\x").push_back(kDigits[byte >> 4]);
      out->push_back(kDigits[byte & 0xf]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back(quote);
}

template <typename T, typename Append>
void AppendItems(const std::vector<T>& items, bool tuple, std::string* out, Append append) {
  out->push_back(tuple ? '(' : '[');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(", ");
    append(items[i], out);
  }
  if (tuple && items.size() == 1) out->push_back(',');
  out->push_back(tuple ? ')' : ']');
}

/// "'type': 'int', 'value': 3"
void AppendValue(const PyprofValue& value, std::string* out) {
  const auto begin = [out](std::string_view type) {
    out->append("'type': '").append(type).append("', 'value': ");
  };
  const auto sequence = [&begin, &value] {
    begin(value.is_list ? "list" : "tuple");
    return !value.is_list;
  };
  switch (value.kind) {
    case PyprofValueKind::kNone:
      begin("NoneType");
      out->append("None");
      break;
    case PyprofValueKind::kBool:
      begin("bool");
      out->append(value.integer != 0 ? "True" : "False");
      break;
    case PyprofValueKind::kInt:
      begin("int");
      AppendInt(value.integer, out);
      break;
    case PyprofValueKind::kFloat:
      begin("float");
      AppendFloat(value.number, out);
      break;
    case PyprofValueKind::kString:
      begin("str");
      AppendString(value.text, out);
      break;
    case PyprofValueKind::kTensor:
      out->append("'type': 'tensor', 'shape': ");
      AppendItems(value.tensors[0].shape, true, out, AppendInt);
      out->append(", 'dtype': '").append(value.tensors[0].dtype).push_back('\'');
      break;
    case PyprofValueKind::kInts:
      AppendItems(value.ints, sequence(), out, AppendInt);
      break;
    case PyprofValueKind::kFloats:
      AppendItems(value.numbers, sequence(), out, AppendFloat);
      break;
    case PyprofValueKind::kBools:
      AppendItems(value.ints, sequence(), out, [](int64_t item, std::string* text) {
        text->append(item != 0 ? "True" : "False");
      });
      break;
    case PyprofValueKind::kDType:
    case PyprofValueKind::kTensors:
    case PyprofValueKind::kOther:
      break;
  }
}

}  // namespace

PyprofValue PyprofValue::Bool(bool value) {
  PyprofValue made;
  made.kind = PyprofValueKind::kBool;
  made.integer = value ? 1 : 0;
  return made;
}

PyprofValue PyprofValue::Int(int64_t value) {
  PyprofValue made;
  made.kind = PyprofValueKind::kInt;
  made.integer = value;
  return made;
}

PyprofValue PyprofValue::Float(double value) {
  PyprofValue made;
  made.kind = PyprofValueKind::kFloat;
  made.number = value;
  return made;
}

PyprofValue PyprofValue::Text(std::string value) {
  PyprofValue made;
  made.kind = PyprofValueKind::kString;
  made.text = std::move(value);
  return made;
}

PyprofValue PyprofValue::DType(std::string name) {
  PyprofValue made = Text(std::move(name));
  made.kind = PyprofValueKind::kDType;
  return made;
}

PyprofValue PyprofValue::Ints(std::vector<int64_t> values) {
  PyprofValue made;
  made.kind = PyprofValueKind::kInts;
  made.ints = std::move(values);
  return made;
}

PyprofValue PyprofValue::Tensor(std::vector<int64_t> shape, std::string dtype) {
  PyprofValue made = Tensors({{std::move(shape), std::move(dtype)}});
  made.kind = PyprofValueKind::kTensor;
  return made;
}

PyprofValue PyprofValue::Tensors(std::vector<PyprofTensor> tensors) {
  PyprofValue made;
  made.kind = PyprofValueKind::kTensors;
  made.tensors = std::move(tensors);
  return made;
}

bool operator==(const PyprofValue& a, const PyprofValue& b) {
  if (!a.tensors.empty() || !b.tensors.empty()) return false;  // Defaults are never tensors.
  // A Scalar's default may be 1 where the call has 1.0.
  const bool numbers = (a.kind == PyprofValueKind::kInt && b.kind == PyprofValueKind::kFloat) ||
                       (a.kind == PyprofValueKind::kFloat && b.kind == PyprofValueKind::kInt);
  if (numbers) {
    return (a.kind == PyprofValueKind::kInt ? static_cast<double>(a.integer) : a.number) ==
           (b.kind == PyprofValueKind::kInt ? static_cast<double>(b.integer) : b.number);
  }
  return a.kind == b.kind && a.integer == b.integer && a.number == b.number && a.text == b.text &&
         a.ints == b.ints && a.numbers == b.numbers;
}

std::string PyprofText(std::string_view mod, std::string_view op,
                       const std::vector<PyprofArg>& args) {
  std::string text = "{'mod': ";
  AppendString(mod, &text);
  text.append(", 'op': ");
  AppendString(op, &text);
  text.append(", 'args': [");
  for (size_t i = 0; i < args.size(); ++i) {
    text.append(i > 0 ? ", {'name': " : "{'name': ");
    AppendString(args[i].name, &text);
    text.append(", ");
    AppendValue(args[i].value, &text);
    text.push_back('}');
  }
  return text.append("]}");
}

}  // namespace oplens::annotate::torch
