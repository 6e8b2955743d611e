// What views saved: taken, or refused with a sentence. What is taken merges, emits and saves.
// The input: a line "VIEW WORD,WORD", then the bytes of a section; "calls WORD,WORD": those of
// calls, of which --view collectives --by WORD,WORD makes rows. Else a whole file.

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "prof/summary_file/summary_file.h"
#include "prof/views/collectives/collective_matches.h"
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

void Use(const oplens::prof::Section& section, std::string_view calls) {
  const auto partial = oplens::prof::LoadPartial(section, "input");
  const oplens::prof::CollectiveSet set = oplens::prof::LoadCalls(calls, "input");
  const oplens::prof::CollectiveMatches matches(set);
  oplens::prof::Partial* const given = partial.get();
  oplens::prof::GiveCalls(matches, std::span(&given, 1));
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

/// What a view saves that saw no input.
std::string NothingFound(const oplens::prof::Section& section) {
  oplens::prof::ViewOptions options;
  options.by = section.by;
  for (const auto& view : oplens::prof::Views()) {
    if (view.name != section.view) continue;
    oplens::ByteWriter bytes;
    view.make(options)->Save(&bytes);
    return bytes.Take();
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = oplens::fuzz::TextOf(data, size);
  try {
    if (input.starts_with("\x8f")) {
      const auto summary = oplens::prof::ParseSummary(input, "input");
      for (const auto& section : summary.sections) Use(section, summary.calls);
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
    if (section.view == "calls") {
      section.view = "collectives";
      const std::string calls = std::exchange(section.bytes, NothingFound(section));
      Use(section, calls);
      return 0;
    }
    Use(section, "");
  } catch (const oplens::Error& error) {
    const std::string_view text = error.what();
    Check(!text.empty() && text.find('\n') == std::string_view::npos);
  } catch (const oplens::UsageError&) {
    // Words that the view does not take.
  }
  return 0;
}
