#include "prof/table/formats.h"

#include <charconv>
#include <utility>

#include "base/utf8.h"
#include "prof/table/arrow_file.h"
#include "prof/table/flame_graph.h"
#include "prof/table/sqlite_file.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

/// Lines in a file or on standard output.
class TextFile : public Destination {
 public:
  explicit TextFile(const FormatPlan& plan)
      : output_(plan.output, PackingOf(plan.output)), plan_(plan) {}
  void Commit() override { output_.Commit(); }
  std::vector<std::string> Notes() const override { return notes_; }

 protected:
  std::vector<std::string> notes_;
  Output output_;
  FormatPlan plan_;
};

class Spaces : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override { return MakeSpaceSink(&output_); }
};

class Aligned : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override { return MakeAlignedSink(&output_); }
};

class FormatsWidths : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override {
    int width = 0;
    std::from_chars(plan_.value.data(), plan_.value.data() + plan_.value.size(), width);
    return MakeWidthSink(&output_, width, &notes_);
  }
};

class ScreenLines : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override { return MakeScreenSink(&output_, plan_.screen); }
};

class Csv : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override {
    return MakeCsvSink(&output_,
                       {plan_.header_keys, plan_.exact_cells,
                        plan_.to_terminal ? Utf8Hidden::kControls : Utf8Hidden::kNothing});
  }
};

class Markdown : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override {
    return MakeMarkdownSink(&output_, plan_.markdown_rows, !std::exchange(begun_, true));
  }

 private:
  bool begun_ = false;
};

class Picture : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override { return MakeFlameSink(&output_, plan_.title); }
};

class JsonLines : public TextFile {
 public:
  using TextFile::TextFile;
  std::unique_ptr<Sink> NewTable() override { return MakeJsonSink(&output_, plan_.names_tables); }
};

template <typename File>
std::unique_ptr<Destination> FormatsOpen(const FormatPlan& plan) {
  return std::make_unique<File>(plan);
}

using Value = Format::Value;

constexpr Format kFormats[] = {
    {"", Value::kNone, "Columns as wide as their contents", false, false, FormatsOpen<Aligned>},
    {"blank", Value::kNone,
     "Fields without blanks, separated by one blank, as PyProf prints kernels", false, false,
     FormatsOpen<Spaces>},
    {"w", Value::kWidth,
     "Columns of fixed width that fill WIDTH characters; integers are never cut", false, false,
     FormatsOpen<FormatsWidths>},
    {"csv", Value::kNone, "Comma separated values, every field quoted", false, false,
     FormatsOpen<Csv>},
    {"markdown", Value::kNone,
     "A table of GitHub's Markdown, of at most 100 rows unless --top is given", false, false,
     FormatsOpen<Markdown>},
    {"json", Value::kNone, "One JSON object per line", true, false, FormatsOpen<JsonLines>},
    {"svg", Value::kNone, "With --view stacks: a flame graph as a picture for browsers", false,
     false, FormatsOpen<Picture>},
    {"sqlite", Value::kFile,
     "Write a SQLite database with the rows as a table, whole or not at all (all columns "
     "unless -c is given)",
     true, true,
     [](const FormatPlan& plan) -> std::unique_ptr<Destination> {
       return std::make_unique<SqliteFile>(plan.value, plan.meta);
     },
     "database"},
    {"arrow", Value::kFile,
     "Write a file of Arrow's IPC format with the table, whole or not at all", false, false,
     [](const FormatPlan& plan) -> std::unique_ptr<Destination> {
       return std::make_unique<ArrowFile>(plan.value);
     }},
};

constexpr Format kScreenFormat = {"",    Value::kNone, "Columns that fit the terminal",
                                  false, false,        FormatsOpen<ScreenLines>};

}  // namespace

std::span<const Format> Formats() { return kFormats; }
const Format& ScreenFormat() { return kScreenFormat; }
const Format& BlankFormat() { return kFormats[1]; }

}  // namespace oplens::prof
