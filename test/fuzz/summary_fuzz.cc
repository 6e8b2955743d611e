// What views saved: taken, or refused with a sentence. What is taken merges, emits and saves.
// The input: a line "VIEW WORD,WORD", then the bytes of a section. Else a whole file.

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/words.h"
#include "prof/summary_file/summary_file.h"
#include "test/fuzz/fuzz_check.h"

namespace {

using oplens::fuzz::Check;

class Rows : public oplens::prof::Sink {
 public:
  explicit Rows(size_t fields) : fields_(fields) {}
  void Begin(std::string_view, std::vector<oplens::prof::Field>) override {}
  void Row(std::span<const oplens::prof::Cell> cells) override { Check(cells.size() == fields_); }

 private:
  size_t fields_;
};

void Use(const oplens::prof::Section& section) {
  const auto partial = oplens::prof::LoadPartial(section, "input");
  Rows rows(partial->Fields().size());
  partial->Emit(&rows);
  const auto other = oplens::prof::LoadPartial(section, "input");
  partial->Merge(*other);
  partial->Emit(&rows);
  static_cast<void>(partial->Notes());
  static_cast<void>(partial->Document());
  // What was merged is saved, and read again.
  oplens::prof::Section again = section;
  oplens::ByteWriter bytes;
  partial->Save(&bytes);
  again.bytes = bytes.Take();
  oplens::prof::LoadPartial(again, "input")->Emit(&rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = oplens::fuzz::TextOf(data, size);
  try {
    if (input.starts_with("\x8f")) {
      for (const auto& section : oplens::prof::ParseSummary(input, "input").sections) Use(section);
      return 0;
    }
    const size_t end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    const std::string_view line = input.substr(0, end);
    const size_t blank = line.find(' ');
    oplens::prof::Section section;
    section.view = line.substr(0, blank);
    if (blank != std::string_view::npos) {
      for (const std::string_view word : oplens::WordsOf(line.substr(blank + 1))) {
        section.by.emplace_back(word);
      }
    }
    section.rules = "oplens";
    section.form = 1;
    section.bytes = input.substr(end + 1);
    Use(section);
  } catch (const oplens::Error& error) {
    const std::string_view text = error.what();
    Check(!text.empty() && text.find('\n') == std::string_view::npos);
  }
  return 0;
}
