#include "mcp/tool_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oplens/next_commands.h"
#include "oplens/text.h"
#include "parse/model/evidence.h"

namespace oplens::mcp {
namespace {

/// Words as a shell splits them, of commands that we write ourselves: quotes, no escapes.
std::vector<std::string> WordsOfCommand(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (const char c : command) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word.push_back(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word.push_back(c);
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

constexpr prof::Field kKeyField = {"key", "Key", "", prof::FieldType::kText, 16, "of the kernel"};

}  // namespace

NextCall CallOfCommand(std::string_view command, const std::string& path, std::string why) {
  std::vector<std::string> words = WordsOfCommand(command);
  if (words.empty()) return {};
  NextCall call{"view", {{"path", path}}, std::move(why)};
  std::string name = "kernels";
  size_t i = 0;
  if (!words.front().starts_with('-')) {
    const std::string& word = words.front();
    if ((word == "view" || word == "groups") && words.size() > 1) {
      name = word == "view" ? words[1] : "groups";
      if (word == "groups") call.arguments["by"] = words[1];
      i = 2;
    } else if (word == "kernels" || word == "copies") {
      name = word;
      i = 1;
    } else {
      return {};
    }
  }
  bool of_view = i == 2 && name != "groups";
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--csv" || word == "--json") continue;
    if (word == "--copies") {
      name = "copies";
      continue;
    }
    if (i + 1 == words.size()) return {};
    const std::string& value = words[++i];
    if (word == "--view") {
      name = value;
      of_view = true;
    } else if (word == "--by") {
      call.arguments["by"] = value;
      if (!of_view) name = "groups";
    } else if (word == "--where" || word == "--sort") {
      call.arguments[word.substr(2)] = value;
    } else if (word == "-c") {
      call.arguments["columns"] = value;
    } else {
      return {};
    }
  }
  call.arguments["name"] = name;
  return call;
}

NextCall NextOf(const screen::Screen& facts, const std::string& path, std::string_view but_view) {
  constexpr size_t kMost = 8;
  for (const screen::NextCommand& next : screen::NextCommands(facts, kMost)) {
    NextCall call = CallOfCommand(next.command, path, next.why);
    if (!call.tool.empty() && call.arguments["name"] != but_view) return call;
  }
  return {};
}

std::string ShareOf(const screen::Screen& facts) {
  std::string share;
  if (facts.op_known_pct)
    share = fmt::format("op for {:.1f} % of kernel time", *facts.op_known_pct);
  if (facts.flops_known_pct) {
    share += fmt::format("{}FLOPs for {:.1f} %", share.empty() ? "" : ", ", *facts.flops_known_pct);
  }
  return share;
}

std::string BasisOf(const screen::Screen& facts, const std::vector<prof::Field>& fields) {
  const auto has = [&](const auto& fits) { return std::ranges::any_of(fields, fits); };
  std::string basis = "recorded";
  if (has([](const prof::Field& field) {
        return field.unit.find("FLOP") != std::string_view::npos ||
               field.unit.starts_with("GB/s") || field.key.find("roof") != std::string_view::npos ||
               field.key.find("efficiency") != std::string_view::npos ||
               field.key.starts_with("gain") || field.key.starts_with("mfu");
      })) {
    basis += "+computed";
  }
  double inferred_pct = 0;
  for (const Evidence evidence : kEvidences) {
    if (IsInferred(evidence)) inferred_pct += facts.OpBy(evidence);
  }
  const bool of_ops = has([](const prof::Field& field) {
    return field.key == "op" || field.key == "layer" || field.key == "dir";
  });
  if (of_ops && (inferred_pct > 0 || facts.captures_matched)) {
    basis += fmt::format("+inferred ({:.1f} % of ops)", inferred_pct);
  }
  return basis;
}

std::string CommandOf(const std::vector<std::string>& words, const std::string& path) {
  std::string command = "oplens";
  for (const std::string& word : words) command += " " + screen::ShellWord(word);
  return SafeText(command + " " + screen::ShellWord(path), SIZE_MAX);
}

void AddNotes(const std::vector<std::string>& sentences, size_t most, Answer* answer) {
  // ShareOf() and open say these.
  constexpr std::string_view kSaidElsewhere[] = {"FLOPs are known for", "kernel time ",
                                                 "model FLOPs utilisation"};
  for (const std::string& sentence : sentences) {
    if (answer->notes.size() >= most) return;
    if (std::ranges::any_of(kSaidElsewhere, [&](std::string_view beginning) {
          return sentence.starts_with(beginning);
        })) {
      continue;
    }
    answer->notes.push_back(SafeText(sentence, kSentenceColumns));
  }
}

class ViewTable::Table : public prof::Sink {
 public:
  explicit Table(ViewTable* of) : of_(*of) {}

  void Begin(std::string_view, std::vector<prof::Field> fields) override {
    std::vector<prof::Field> kept;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].key == "idx") idx_ = i;
      if (fields[i].key == of_.hidden_) continue;
      places_.push_back(i);
      kept.push_back(fields[i]);
      if (fields[i].key != "kernel") continue;
      kernel_ = i;
      places_.push_back(kKeyPlace);
      kept.push_back(kKeyField);
    }
    of_.fields_ = kept;
    of_.rows_.Begin(std::move(kept));
  }

  void Row(std::span<const prof::Cell> cells) override {
    row_.clear();
    for (const size_t place : places_) {
      row_.push_back(place == kKeyPlace ? prof::Text(KeyOf(cells)) : cells[place]);
    }
    of_.rows_.Add(row_);
  }

 private:
  static constexpr size_t kKeyPlace = SIZE_MAX;

  std::string_view KeyOf(std::span<const prof::Cell> cells) {
    key_.clear();
    const auto* idx = idx_ ? std::get_if<int64_t>(&cells[*idx_].value) : nullptr;
    if (of_.keys_ != nullptr && idx != nullptr) {
      key_ = of_.keys_->KeyOf(*idx);
    } else if (const auto* name = std::get_if<std::string_view>(&cells[kernel_].value)) {
      if (!name->starts_with('(')) key_ = NameKey(*name);
    }
    return key_;
  }

  ViewTable& of_;
  std::vector<size_t> places_;
  std::optional<size_t> idx_;
  size_t kernel_ = 0;
  std::vector<prof::Cell> row_;
  std::string key_;
};

std::unique_ptr<prof::Sink> ViewTable::NewTable() { return std::make_unique<Table>(this); }

}  // namespace oplens::mcp
