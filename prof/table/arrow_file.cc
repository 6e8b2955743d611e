#include "prof/table/arrow_file.h"

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::prof {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::voffset_t;
using Kind = ArrowColumn::Kind;
using Table = Offset<flatbuffers::Table>;

// Arrow's tables, by the numbers of their members
// (https://arrow.apache.org/docs/format/Columnar.html; Schema.fbs, Message.fbs and File.fbs of its
// release 5 and later).

constexpr int16_t kVersion5 = 4;

enum class Header : uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
enum class Type : uint8_t {
  kInt = 2,
  kFloatingPoint = 3,
  kUtf8 = 5,
  kFixedSizeList = 16,
  kLargeList = 21,
};

/// A member's place in the table of places of its table.
constexpr voffset_t Member(int number) { return static_cast<voffset_t>(4 + 2 * number); }

/// Of a message: where its file has it.
struct Block {
  int64_t offset;
  int32_t metadata_bytes;
  int32_t padding;
  int64_t body_bytes;
};
struct FieldNode {
  int64_t length;
  int64_t null_count;
};
struct Buffer {
  int64_t offset;
  int64_t length;
};

/// What a batch has for its columns: nodes and buffers depth first, and the bytes.
class Body {
 public:
  void Node(size_t length, size_t unknown) {
    nodes_.push_back({static_cast<int64_t>(length), static_cast<int64_t>(unknown)});
  }
  template <typename Value>
  void Add(const std::vector<Value>& values) {
    Add(std::string_view(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(Value)));
  }
  void Add(std::string_view bytes) {
    buffers_.push_back({bytes_, static_cast<int64_t>(bytes.size())});
    parts_.push_back(bytes);
    bytes_ += Padded(static_cast<int64_t>(bytes.size()));
  }

  Table RecordBatch(size_t length, FlatBufferBuilder* builder) const {
    const auto nodes = StructsOf(nodes_, builder);
    const auto buffers = StructsOf(buffers_, builder);
    const auto start = builder->StartTable();
    builder->AddElement<int64_t>(Member(0), static_cast<int64_t>(length), 0);
    builder->AddOffset(Member(1), nodes);
    builder->AddOffset(Member(2), buffers);
    return Table(builder->EndTable(start));
  }
  int64_t bytes() const { return bytes_; }
  void Write(Output* output) const {
    for (const std::string_view part : parts_) {
      output->Write(part);
      const auto size = static_cast<int64_t>(part.size());
      output->Write(std::string(static_cast<size_t>(Padded(size) - size), '\0'));
    }
  }

  template <typename Struct>
  static Offset<flatbuffers::Vector<const Struct*>> StructsOf(const std::vector<Struct>& structs,
                                                              FlatBufferBuilder* builder) {
    static_assert(alignof(Struct) == sizeof(int64_t));
    builder->StartVector(structs.size() * sizeof(Struct) / sizeof(int64_t), sizeof(int64_t));
    // From the last to the first, as the buffer grows downwards.
    for (auto one = structs.rbegin(); one != structs.rend(); ++one) {
      builder->PushBytes(reinterpret_cast<const uint8_t*>(&*one), sizeof(Struct));
    }
    return {builder->EndVector(structs.size())};
  }

 private:
  /// Consumers that map the file want buffers at multiples of 64.
  static int64_t Padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

  std::vector<FieldNode> nodes_;
  std::vector<Buffer> buffers_;
  std::vector<std::string_view> parts_;
  int64_t bytes_ = 0;
};

class Writer {
 public:
  Writer(const ArrowTable& table, Output* output) : table_(table), output_(output) {}

  void Write() {
    Put(std::string_view(kMagic));
    Put(std::string_view("\0\0", 2));
    {
      FlatBufferBuilder builder;
      WriteMessage(Header::kSchema, Schema(&builder), &builder, {});
    }
    for (size_t i = 0; i < table_.columns(); ++i) {
      if (HasTexts(i)) dictionaries_.push_back(WriteDictionary(i));
    }
    const Block batch = WriteBatch();
    Put(std::string_view("\xff\xff\xff\xff\0\0\0\0", 8));
    WriteFooter(batch);
  }

 private:
  static constexpr char kMagic[] = "ARROW1";

  bool HasTexts(size_t column) const {
    const Kind kind = table_.Column(column).kind();
    return kind == Kind::kTexts || kind == Kind::kTextLists;
  }

  void Put(std::string_view bytes) {
    output_->Write(bytes);
    written_ += static_cast<int64_t>(bytes.size());
  }
  void PutInt32(int32_t value) {
    Put(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }

  static Table IntType(int bits, FlatBufferBuilder* builder) {
    const auto start = builder->StartTable();
    builder->AddElement<int32_t>(Member(0), bits, 0);
    builder->AddElement<uint8_t>(Member(1), 1, 0);
    return Table(builder->EndTable(start));
  }
  static Table FloatType(FlatBufferBuilder* builder) {
    constexpr int16_t kDouble = 2;
    const auto start = builder->StartTable();
    builder->AddElement<int16_t>(Member(0), kDouble, 0);
    return Table(builder->EndTable(start));
  }
  static Table PlainType(FlatBufferBuilder* builder) {
    return Table(builder->EndTable(builder->StartTable()));
  }
  static Table ThreeType(FlatBufferBuilder* builder) {
    const auto start = builder->StartTable();
    builder->AddElement<int32_t>(Member(0), 3, 0);
    return Table(builder->EndTable(start));
  }

  /// A text's dictionary has the number of its column.
  static Table TextsOf(size_t column, FlatBufferBuilder* builder) {
    const Table index = IntType(32, builder);
    const auto start = builder->StartTable();
    builder->AddElement<int64_t>(Member(0), static_cast<int64_t>(column), -1);
    builder->AddOffset(Member(1), index);
    return Table(builder->EndTable(start));
  }

  struct FieldParts {
    std::string name;
    Type type = Type::kInt;
    Table type_table = {};
    Table dictionary = {};  // 0: none.
    std::vector<Table> children = {};
    std::vector<std::pair<std::string, std::string>> metadata = {};
  };

  static Offset<flatbuffers::Vector<Table>> MetadataOf(
      const std::vector<std::pair<std::string, std::string>>& pairs, FlatBufferBuilder* builder) {
    std::vector<Table> all;
    for (const auto& [key, value] : pairs) {
      const auto key_text = builder->CreateString(key);
      const auto value_text = builder->CreateString(value);
      const auto start = builder->StartTable();
      builder->AddOffset(Member(0), key_text);
      builder->AddOffset(Member(1), value_text);
      all.emplace_back(builder->EndTable(start));
    }
    return builder->CreateVector(all);
  }

  static Table FieldOf(const FieldParts& parts, FlatBufferBuilder* builder) {
    const auto name = builder->CreateString(parts.name);
    const auto children = builder->CreateVector(parts.children);
    const auto metadata = MetadataOf(parts.metadata, builder);
    const auto start = builder->StartTable();
    builder->AddOffset(Member(0), name);
    builder->AddElement<uint8_t>(Member(1), 1, 0);
    builder->AddElement<uint8_t>(Member(2), static_cast<uint8_t>(parts.type), 0);
    builder->AddOffset(Member(3), parts.type_table);
    if (!parts.dictionary.IsNull()) builder->AddOffset(Member(4), parts.dictionary);
    builder->AddOffset(Member(5), children);
    builder->AddOffset(Member(6), metadata);
    return Table(builder->EndTable(start));
  }

  Table ColumnField(size_t column, FlatBufferBuilder* builder) const {
    FieldParts parts;
    parts.name = table_.KeyOf(column);
    parts.metadata = {{"unit", table_.UnitOf(column)},
                      {"title", table_.TitleOf(column)},
                      {"help", table_.HelpOf(column)}};
    FieldParts item;
    item.name = "item";
    item.type_table = {};
    switch (table_.Column(column).kind()) {
      case Kind::kIntegers:
        parts.type_table = IntType(64, builder);
        break;
      case Kind::kDecimals:
        parts.type = Type::kFloatingPoint;
        parts.type_table = FloatType(builder);
        break;
      case Kind::kTexts:
        parts.type = Type::kUtf8;
        parts.type_table = PlainType(builder);
        parts.dictionary = TextsOf(column, builder);
        break;
      case Kind::kIntegerLists:
      case Kind::kExtents: {
        const bool list = table_.Column(column).kind() == Kind::kIntegerLists;
        item.type_table = IntType(64, builder);
        parts.children = {FieldOf(item, builder)};
        parts.type = list ? Type::kLargeList : Type::kFixedSizeList;
        parts.type_table = list ? PlainType(builder) : ThreeType(builder);
        break;
      }
      case Kind::kTextLists:
        item.type = Type::kUtf8;
        item.type_table = PlainType(builder);
        item.dictionary = TextsOf(column, builder);
        parts.children = {FieldOf(item, builder)};
        parts.type = Type::kLargeList;
        parts.type_table = PlainType(builder);
        break;
    }
    return FieldOf(parts, builder);
  }

  Table Schema(FlatBufferBuilder* builder) const {
    std::vector<Table> columns;
    for (size_t i = 0; i < table_.columns(); ++i) columns.push_back(ColumnField(i, builder));
    const auto fields = builder->CreateVector(columns);
    const auto metadata = MetadataOf({{"view", table_.name()}}, builder);
    const auto start = builder->StartTable();
    builder->AddOffset(Member(1), fields);
    builder->AddOffset(Member(2), metadata);
    return Table(builder->EndTable(start));
  }

  Block WriteMessage(Header type, Table header, FlatBufferBuilder* builder, const Body& body) {
    const auto start = builder->StartTable();
    builder->AddElement<int16_t>(Member(0), kVersion5, 0);
    builder->AddElement<uint8_t>(Member(1), static_cast<uint8_t>(type), 0);
    builder->AddOffset(Member(2), header);
    builder->AddElement<int64_t>(Member(3), body.bytes(), 0);
    builder->Finish(Table(builder->EndTable(start)));
    // The body begins at a multiple of 64 too.
    const int64_t prefix = 8;
    const int64_t unpadded = written_ + prefix + builder->GetSize();
    const int64_t padding = (64 - unpadded % 64) % 64;
    const int64_t metadata = builder->GetSize() + padding;
    const Block block = {written_, static_cast<int32_t>(prefix + metadata), 0, body.bytes()};
    PutInt32(-1);
    PutInt32(static_cast<int32_t>(metadata));
    Put(std::string_view(reinterpret_cast<const char*>(builder->GetBufferPointer()),
                         builder->GetSize()));
    Put(std::string(static_cast<size_t>(padding), '\0'));
    body.Write(output_);
    written_ += body.bytes();
    return block;
  }

  Block WriteDictionary(size_t column) {
    const ArrowTexts& texts = table_.Column(column).texts();
    Body body;
    body.Node(texts.size(), 0);
    body.Add(std::string_view());
    body.Add(texts.offsets());
    body.Add(std::string_view(texts.chars()));
    FlatBufferBuilder builder;
    const Table data = body.RecordBatch(texts.size(), &builder);
    const auto start = builder.StartTable();
    builder.AddElement<int64_t>(Member(0), static_cast<int64_t>(column), -1);
    builder.AddOffset(Member(1), data);
    const Table dictionary(builder.EndTable(start));
    return WriteMessage(Header::kDictionaryBatch, dictionary, &builder, body);
  }

  static void AddColumn(const ArrowColumn& column, Body* body) {
    body->Node(column.rows(), column.unknown());
    body->Add(column.valid());
    switch (column.kind()) {
      case Kind::kIntegers:
        body->Add(column.integers());
        break;
      case Kind::kDecimals:
        body->Add(column.decimals());
        break;
      case Kind::kTexts:
        body->Add(column.codes());
        break;
      case Kind::kIntegerLists:
      case Kind::kExtents:
        if (column.kind() == Kind::kIntegerLists) body->Add(column.offsets());
        body->Node(column.integers().size(), 0);
        body->Add(std::string_view());
        body->Add(column.integers());
        break;
      case Kind::kTextLists:
        body->Add(column.offsets());
        body->Node(column.codes().size(), 0);
        body->Add(std::string_view());
        body->Add(column.codes());
        break;
    }
  }

  Block WriteBatch() {
    Body body;
    for (size_t i = 0; i < table_.columns(); ++i) AddColumn(table_.Column(i), &body);
    FlatBufferBuilder builder;
    const Table batch = body.RecordBatch(table_.rows(), &builder);
    return WriteMessage(Header::kRecordBatch, batch, &builder, body);
  }

  void WriteFooter(const Block& batch) {
    FlatBufferBuilder builder;
    const Table schema = Schema(&builder);
    const auto dictionaries = Body::StructsOf(dictionaries_, &builder);
    const auto batches = Body::StructsOf(std::vector<Block>{batch}, &builder);
    const auto start = builder.StartTable();
    builder.AddElement<int16_t>(Member(0), kVersion5, 0);
    builder.AddOffset(Member(1), schema);
    builder.AddOffset(Member(2), dictionaries);
    builder.AddOffset(Member(3), batches);
    builder.Finish(Table(builder.EndTable(start)));
    Put(std::string_view(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                         builder.GetSize()));
    PutInt32(static_cast<int32_t>(builder.GetSize()));
    Put(std::string_view(kMagic));
  }

  const ArrowTable& table_;
  Output* output_;
  int64_t written_ = 0;
  std::vector<Block> dictionaries_;
};

}  // namespace

void ArrowFile::Commit() {
  if (tables_.size() > 0 && tables_.At(0) != nullptr) Writer(*tables_.At(0), &output_).Write();
  output_.Commit();
}

}  // namespace oplens::prof
