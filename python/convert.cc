#include "python/convert.h"

#include <memory>
#include <utility>

#include "prof/table/arrow_abi.h"

namespace oplens::python {
namespace {

namespace nb = nanobind;
using Kind = prof::ArrowColumn::Kind;

nb::object TextOf(const prof::ArrowTexts& texts, int32_t code) {
  const std::string_view text = texts.At(static_cast<size_t>(code));
  return nb::str(text.data(), text.size());
}

template <typename Struct>
void ReleaseCapsule(PyObject* capsule) {
  auto* const held =
      static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (held == nullptr) return;
  // A consumer that took it over has set this to null.
  if (held->release != nullptr) held->release(held);
  delete held;
}

template <typename Struct>
nb::object CapsuleOf(std::unique_ptr<Struct> held, const char* name) {
  PyObject* const capsule = PyCapsule_New(held.get(), name, ReleaseCapsule<Struct>);
  if (capsule == nullptr) {
    held->release(held.get());
    throw nb::python_error();
  }
  held.release();
  return nb::steal(capsule);
}

}  // namespace

nb::object ValueOf(const prof::ArrowColumn& column, size_t row) {
  if (!column.IsKnown(row)) return nb::none();
  const auto begin = [&] { return static_cast<size_t>(column.offsets()[row]); };
  const auto end = [&] { return static_cast<size_t>(column.offsets()[row + 1]); };
  switch (column.kind()) {
    case Kind::kIntegers:
      return nb::int_(column.integers()[row]);
    case Kind::kDecimals:
      return nb::float_(column.decimals()[row]);
    case Kind::kTexts:
      return TextOf(column.texts(), column.codes()[row]);
    case Kind::kIntegerLists: {
      nb::list items;
      for (size_t i = begin(); i < end(); ++i) items.append(nb::int_(column.integers()[i]));
      return items;
    }
    case Kind::kTextLists: {
      nb::list items;
      for (size_t i = begin(); i < end(); ++i) {
        items.append(TextOf(column.texts(), column.codes()[i]));
      }
      return items;
    }
    case Kind::kExtents: {
      nb::list items;
      for (size_t i = 3 * row; i < 3 * row + 3; ++i) items.append(nb::int_(column.integers()[i]));
      return items;
    }
  }
  return nb::none();
}

nb::list ValuesOf(const prof::ArrowColumn& column) {
  nb::list values;
  if (column.kind() != Kind::kTexts) {
    for (size_t row = 0; row < column.rows(); ++row) values.append(ValueOf(column, row));
    return values;
  }
  // Each text is made once.
  std::vector<nb::object> texts(column.texts().size());
  for (size_t row = 0; row < column.rows(); ++row) {
    if (!column.IsKnown(row)) {
      values.append(nb::none());
      continue;
    }
    nb::object& text = texts[static_cast<size_t>(column.codes()[row])];
    if (!text.is_valid()) text = TextOf(column.texts(), column.codes()[row]);
    values.append(text);
  }
  return values;
}

nb::object SchemaCapsule(const prof::ArrowTable& table) {
  auto schema = std::make_unique<ArrowSchema>();
  prof::ExportSchema(table, schema.get());
  return CapsuleOf(std::move(schema), "arrow_schema");
}

nb::object StreamCapsule(std::shared_ptr<const prof::ArrowTable> table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  prof::ExportStream(std::move(table), stream.get());
  return CapsuleOf(std::move(stream), "arrow_array_stream");
}

}  // namespace oplens::python
