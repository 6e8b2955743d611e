#ifndef OPLENS_MCP_TOOL_PARTS_H_
#define OPLENS_MCP_TOOL_PARTS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/answers/answer.h"
#include "mcp/arguments.h"
#include "mcp/kernel_keys.h"
#include "oplens/screen.h"
#include "prof/table/sink.h"

namespace oplens::mcp {

// What several tools have in common.

/// The call of `view` that a command or options of oplens stand for, such as "view idle" or
/// "--by op --where 'sil<5us'"; an empty tool if `view` takes no such words.
NextCall CallOfCommand(std::string_view command, const std::string& path, std::string why);

/// The first command that the screen advises and that `view` can do, other than a view of this
/// name.
NextCall NextOf(const screen::Screen& facts, const std::string& path, std::string_view but_view);

/// "op for 98.2 % of kernel time, FLOPs for 95 %".
std::string ShareOf(const screen::Screen& facts);
/// What answers with these columns rest on: "recorded", with "computed" for figures of prices, and
/// "inferred" where ops are and some of them are inferred.
std::string BasisOf(const screen::Screen& facts, const std::vector<prof::Field>& fields);
/// "oplens WORDS FILE", quoted for a shell.
std::string CommandOf(const std::vector<std::string>& words, const std::string& path);

/// Sentences for Answer::notes.
void AddNotes(const std::vector<std::string>& sentences, size_t most, Answer* answer);

/// Keeps the rows of one table, with the keys of kernels beside their names.
class ViewTable : public prof::Destination {
 public:
  /// `keys`: for rows that have a column idx; null: names get the key of their name. The column
  /// `hidden` ("": none) is not kept. `rows` must outlive this object.
  ViewTable(AnswerRows* rows, const KernelKeys* keys, std::string hidden)
      : rows_(*rows), keys_(keys), hidden_(std::move(hidden)) {}
  std::unique_ptr<prof::Sink> NewTable() override;
  void Commit() override {}
  /// Those that were kept, but for the keys.
  const std::vector<prof::Field>& fields() const { return fields_; }

 private:
  class Table;
  AnswerRows& rows_;
  const KernelKeys* keys_;
  std::string hidden_;
  std::vector<prof::Field> fields_;
};

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_TOOL_PARTS_H_
