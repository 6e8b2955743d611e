#include "prof/table/arrow_table.h"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <optional>

#include "prof/table/arrow_abi.h"

namespace oplens::prof {
namespace {

using Kind = ArrowColumn::Kind;

constexpr Field kCutField = {"", "", "", FieldType::kInteger, Field::kShared, ""};

constexpr const char* kStruct = "+s";
constexpr const char* kInt64 = "l";
constexpr const char* kInt32 = "i";
constexpr const char* kDouble = "g";
constexpr const char* kUtf8 = "u";
constexpr const char* kLargeList = "+L";
constexpr const char* kThree = "+w:3";

// Schemas.

struct SchemaParts {
  std::string name;
  std::string metadata;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

void ReleaseSchema(ArrowSchema* schema) {
  // Consumers may have moved, and released, children.
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  }
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr) {
    schema->dictionary->release(schema->dictionary);
  }
  delete static_cast<SchemaParts*>(schema->private_data);
  schema->release = nullptr;
}

void AppendInt32(size_t value, std::string* out) {
  const auto number = static_cast<int32_t>(value);
  out->append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// In the interface's form: a count, then the size and bytes of each key and value.
std::string MetadataOf(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  AppendInt32(pairs.size(), &text);
  for (const auto& [key, value] : pairs) {
    for (const std::string* part : {&key, &value}) {
      AppendInt32(part->size(), &text);
      text += *part;
    }
  }
  return text;
}

void MakeSchema(const char* format, std::string name, std::string metadata,
                std::vector<std::unique_ptr<ArrowSchema>> children,
                std::unique_ptr<ArrowSchema> dictionary, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = std::move(name);
  parts->metadata = std::move(metadata);
  parts->children = std::move(children);
  for (const auto& child : parts->children) parts->pointers.push_back(child.get());
  parts->dictionary = std::move(dictionary);
  *out = {format,
          parts->name.c_str(),
          parts->metadata.empty() ? nullptr : parts->metadata.data(),
          kArrowNullable,
          static_cast<int64_t>(parts->pointers.size()),
          parts->pointers.data(),
          parts->dictionary.get(),
          ReleaseSchema,
          parts.get()};
  parts.release();
}

std::unique_ptr<ArrowSchema> SchemaOf(const char* format, std::string name,
                                      std::string metadata = {},
                                      std::vector<std::unique_ptr<ArrowSchema>> children = {},
                                      std::unique_ptr<ArrowSchema> dictionary = nullptr) {
  auto schema = std::make_unique<ArrowSchema>();
  MakeSchema(format, std::move(name), std::move(metadata), std::move(children),
             std::move(dictionary), schema.get());
  return schema;
}

std::unique_ptr<ArrowSchema> SchemaOfColumn(Kind kind, const std::string& name,
                                            std::string metadata) {
  std::vector<std::unique_ptr<ArrowSchema>> items;
  switch (kind) {
    case Kind::kIntegers:
      return SchemaOf(kInt64, name, std::move(metadata));
    case Kind::kDecimals:
      return SchemaOf(kDouble, name, std::move(metadata));
    case Kind::kTexts:
      return SchemaOf(kInt32, name, std::move(metadata), {}, SchemaOf(kUtf8, ""));
    case Kind::kIntegerLists:
    case Kind::kExtents:
      items.push_back(SchemaOf(kInt64, "item"));
      break;
    case Kind::kTextLists:
      items.push_back(SchemaOf(kInt32, "item", {}, {}, SchemaOf(kUtf8, "")));
      break;
  }
  return SchemaOf(kind == Kind::kExtents ? kThree : kLargeList, name, std::move(metadata),
                  std::move(items));
}

// Arrays. Buffers are those of the table.

struct ArrayParts {
  std::shared_ptr<const ArrowTable> table;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
  std::unique_ptr<ArrowArray> dictionary;
};

void ReleaseArray(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  if (array->dictionary != nullptr && array->dictionary->release != nullptr) {
    array->dictionary->release(array->dictionary);
  }
  delete static_cast<ArrayParts*>(array->private_data);
  array->release = nullptr;
}

struct ArrayPlan {
  size_t length = 0;
  size_t unknown = 0;
  std::vector<const void*> buffers = {};
  std::vector<std::unique_ptr<ArrowArray>> children = {};
  std::unique_ptr<ArrowArray> dictionary = nullptr;
};

void MakeArray(const std::shared_ptr<const ArrowTable>& table, ArrayPlan plan, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  parts->buffers = std::move(plan.buffers);
  parts->children = std::move(plan.children);
  for (const auto& child : parts->children) parts->pointers.push_back(child.get());
  parts->dictionary = std::move(plan.dictionary);
  *out = {static_cast<int64_t>(plan.length),
          static_cast<int64_t>(plan.unknown),
          0,
          static_cast<int64_t>(parts->buffers.size()),
          static_cast<int64_t>(parts->pointers.size()),
          parts->buffers.data(),
          parts->pointers.data(),
          parts->dictionary.get(),
          ReleaseArray,
          parts.get()};
  parts.release();
}

class ArrayMaker {
 public:
  explicit ArrayMaker(std::shared_ptr<const ArrowTable> table) : table_(std::move(table)) {}

  std::unique_ptr<ArrowArray> Make(const ArrowColumn& column) const {
    ArrayPlan plan;
    plan.length = column.rows();
    plan.unknown = column.unknown();
    plan.buffers = {column.valid().empty() ? nullptr : column.valid().data()};
    switch (column.kind()) {
      case Kind::kIntegers:
        plan.buffers.push_back(DataOf(column.integers()));
        break;
      case Kind::kDecimals:
        plan.buffers.push_back(DataOf(column.decimals()));
        break;
      case Kind::kTexts:
        plan.buffers.push_back(DataOf(column.codes()));
        plan.dictionary = DictionaryOf(column.texts());
        break;
      case Kind::kIntegerLists:
        plan.buffers.push_back(DataOf(column.offsets()));
        plan.children.push_back(IntegersOf(column));
        break;
      case Kind::kExtents:
        plan.children.push_back(IntegersOf(column));
        break;
      case Kind::kTextLists: {
        plan.buffers.push_back(DataOf(column.offsets()));
        ArrayPlan items;
        items.length = column.codes().size();
        items.buffers = {nullptr, DataOf(column.codes())};
        items.dictionary = DictionaryOf(column.texts());
        plan.children.push_back(Own(std::move(items)));
        break;
      }
    }
    return Own(std::move(plan));
  }

  void MakeAll(std::vector<std::unique_ptr<ArrowArray>> columns, ArrowArray* out) const {
    ArrayPlan plan;
    plan.length = table_->rows();
    plan.buffers = {nullptr};
    plan.children = std::move(columns);
    MakeArray(table_, std::move(plan), out);
  }

 private:
  /// Never null: some consumers refuse that even for no items.
  template <typename Items>
  static const void* DataOf(const Items& items) {
    static constexpr int64_t kNothing = 0;
    return items.empty() ? static_cast<const void*>(&kNothing) : items.data();
  }

  std::unique_ptr<ArrowArray> Own(ArrayPlan plan) const {
    auto array = std::make_unique<ArrowArray>();
    MakeArray(table_, std::move(plan), array.get());
    return array;
  }
  std::unique_ptr<ArrowArray> IntegersOf(const ArrowColumn& column) const {
    ArrayPlan items;
    items.length = column.integers().size();
    items.buffers = {nullptr, DataOf(column.integers())};
    return Own(std::move(items));
  }
  std::unique_ptr<ArrowArray> DictionaryOf(const ArrowTexts& texts) const {
    ArrayPlan plan;
    plan.length = texts.size();
    plan.buffers = {nullptr, texts.offsets().data(), DataOf(texts.chars())};
    return Own(std::move(plan));
  }

  std::shared_ptr<const ArrowTable> table_;
};

// Streams.

struct StreamParts {
  std::shared_ptr<const ArrowTable> table;
  bool given = false;
};

int StreamSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    ExportSchema(*static_cast<StreamParts*>(stream->private_data)->table, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int StreamNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* const parts = static_cast<StreamParts*>(stream->private_data);
  *out = {};
  if (parts->given) return 0;
  try {
    ExportArray(parts->table, out);
    parts->given = true;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* StreamError(ArrowArrayStream*) { return nullptr; }

void ReleaseStream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

class ArrowSink : public Sink {
 public:
  explicit ArrowSink(std::shared_ptr<ArrowTable>* table) : table_(*table) {}
  void Begin(std::string_view table, std::vector<Field> fields) override {
    table_ = std::make_shared<ArrowTable>(std::string(table), fields);
  }
  void Row(std::span<const Cell> cells) override { table_->Add(cells); }
  void End() override { table_->Finish(); }

 private:
  std::shared_ptr<ArrowTable>& table_;
};

}  // namespace

ArrowTable::ArrowTable(std::string name, const std::vector<Field>& fields)
    : name_(std::move(name)) {
  for (const Field& field : fields) {
    fields_.push_back({std::string(field.key), std::string(field.unit), std::string(field.header),
                       std::string(field.help), std::make_unique<ArrowColumn>(field), nullptr});
  }
}

void ArrowTable::Add(std::span<const Cell> cells) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].column->Add(cells[i]);
    const auto* const list = std::get_if<Cell::Texts>(&cells[i].value);
    const bool cut = list != nullptr && list->more > 0;
    if (!cut && fields_[i].cut == nullptr) continue;
    if (fields_[i].cut == nullptr) {
      fields_[i].cut = std::make_unique<ArrowColumn>(kCutField);
      for (size_t row = 0; row < rows_; ++row) fields_[i].cut->AddUnknown();
    }
    fields_[i].cut->Add(cut ? Integer(list->more) : Cell{});
  }
  ++rows_;
}

void ArrowTable::Finish() {
  const size_t count = fields_.size();
  for (size_t i = 0; i < count; ++i) {
    fields_[i].column->Finish();
    if (fields_[i].cut == nullptr) continue;
    Own cut = {
        fields_[i].key + "Cut",    "",     "", fmt::format("items that {} lacks", fields_[i].key),
        std::move(fields_[i].cut), nullptr};
    fields_.push_back(std::move(cut));
  }
}

size_t ArrowTable::bytes() const {
  size_t sum = 0;
  for (const Own& field : fields_) sum += field.column->bytes();
  return sum;
}

void ExportSchema(const ArrowTable& table, ArrowSchema* out) {
  std::vector<std::unique_ptr<ArrowSchema>> columns;
  for (size_t i = 0; i < table.columns(); ++i) {
    columns.push_back(SchemaOfColumn(
        table.Column(i).kind(), table.KeyOf(i),
        MetadataOf(
            {{"unit", table.UnitOf(i)}, {"title", table.TitleOf(i)}, {"help", table.HelpOf(i)}})));
  }
  MakeSchema(kStruct, "", MetadataOf({{"view", table.name()}}), std::move(columns), nullptr, out);
  // A table is no column: it has no unknown rows.
  out->flags = 0;
}

void ExportArray(std::shared_ptr<const ArrowTable> table, ArrowArray* out) {
  const ArrayMaker maker(table);
  std::vector<std::unique_ptr<ArrowArray>> columns;
  for (size_t i = 0; i < table->columns(); ++i) columns.push_back(maker.Make(table->Column(i)));
  maker.MakeAll(std::move(columns), out);
}

void ExportStream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream* out) {
  auto parts = std::make_unique<StreamParts>();
  parts->table = std::move(table);
  *out = {StreamSchema, StreamNext, StreamError, ReleaseStream, parts.get()};
  parts.release();
}

std::unique_ptr<Sink> ArrowTables::NewTable() {
  return std::make_unique<ArrowSink>(&tables_.emplace_back());
}

}  // namespace oplens::prof
