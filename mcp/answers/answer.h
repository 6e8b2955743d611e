#ifndef OPLENS_MCP_ANSWERS_ANSWER_H_
#define OPLENS_MCP_ANSWERS_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/sink.h"

namespace oplens::mcp {

/// Rows of a table as they are answered: those after the first `skip`, at most kMostKept. Of all
/// others that follow only their number and the sums of what adds up is kept.
class AnswerRows {
 public:
  using Json = nlohmann::ordered_json;
  /// More than fit into an answer of the largest size.
  static constexpr size_t kMostKept = 1000;

  explicit AnswerRows(size_t skip = 0) : skip_(skip) {}

  void Begin(std::vector<prof::Field> fields);
  void Add(std::span<const prof::Cell> cells);
  /// Of tables without fields: what they are called, and cells of numbers, texts or null.
  void BeginPlain(std::vector<std::string> columns);
  void Add(std::vector<Json> cells);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Json>>& rows() const { return rows_; }
  size_t skip() const { return skip_; }
  /// All rows, also those skipped.
  size_t all() const { return all_; }
  /// The index of a column; nullopt: there is none.
  std::optional<size_t> ColumnOf(std::string_view key) const;
  /// Of the rows from `row` of rows() on, with those that were not kept: the sum of each column
  /// that adds up, an object by column.
  Json SumsFrom(size_t row) const;
  /// Whether the next row is kept, or only counted; then its cells may be left out.
  bool Wants() const { return all_ >= skip_ && rows_.size() < kMostKept; }
  void DropColumn(size_t column);
  /// Drops the columns that are null in all rows, if there are rows, and returns their names.
  std::vector<std::string> DropUnknown();

 private:
  size_t skip_;
  size_t all_ = 0;
  std::vector<prof::Field> fields_;
  std::vector<std::string> columns_;
  std::vector<bool> adds_up_;
  std::vector<std::vector<Json>> rows_;
  std::vector<double> beyond_;  // Of rows that were not kept, per column that adds up.
};

/// A sink into an AnswerRows, which must outlive it.
class AnswerSink : public prof::Sink {
 public:
  explicit AnswerSink(AnswerRows* rows) : rows_(*rows) {}
  void Begin(std::string_view, std::vector<prof::Field> fields) override {
    rows_.Begin(std::move(fields));
  }
  void Row(std::span<const prof::Cell> cells) override { rows_.Add(cells); }

 private:
  AnswerRows& rows_;
};

/// The typed call that an answer advises.
struct NextCall {
  std::string tool;  ///< "": none.
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  std::string why;
};

/// Where an answer is from.
struct Source {
  std::string command;  ///< The equivalent command line.
  std::string file;     ///< As the client named it.
  std::string hash;     ///< Of its content; "": not a file.
  std::string basis;    ///< "recorded", "computed", "inferred", or several with '+'.
  std::string share;    ///< What part of the time it rests on; "": all of it.
};

struct Answer {
  std::string title;  ///< One line.
  std::vector<std::string> notes;
  Source evidence;
  NextCall next;
};

/// What is sent.
struct BoundedAnswer {
  std::string text;
  nlohmann::ordered_json structured;
};

/// Least size of an answer.
inline constexpr size_t kLeastTokens = 300;
inline constexpr size_t kUsualTokens = 1500;
inline constexpr size_t kMostTokens = 20'000;

/// The answer with as many of `rows`, from the first, as fit: its text and its structured form each
/// have at most `max_tokens` by TokensOf. What is missing is counted and summed, and the argument
/// that shows it is named. Notes are dropped from the end if the answer would not fit without rows.
BoundedAnswer Bound(const Answer& answer, const AnswerRows& rows, size_t max_tokens);

/// A fraction with six digits, which is more than clocks and counters are good for; whole numbers,
/// and those from a million on, as integers. Null and texts stay.
nlohmann::ordered_json RoundedCell(const nlohmann::ordered_json& number);

/// A text from a file as one line: valid UTF-8, control characters and those that turn the
/// direction of text as escapes such as "\u001b"; of more than `width` columns the middle is cut.
std::string SafeText(std::string_view text, size_t width);
/// Of one more than this, the middle of a name is cut,
inline constexpr size_t kNameColumns = 48;
/// the end of a sentence.
inline constexpr size_t kSentenceColumns = 240;

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_ANSWERS_ANSWER_H_
