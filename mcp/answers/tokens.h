#ifndef OPLENS_MCP_ANSWERS_TOKENS_H_
#define OPLENS_MCP_ANSWERS_TOKENS_H_

#include <cstddef>
#include <string_view>

namespace oplens::mcp {

/// How many tokens of a language model a text takes at most. Models differ; this is the sum of
///  - letters: one for each four of a word, where a capital after a small letter begins a word,
///  - digits: one each,
///  - blanks: none for a single one between other characters, unless a digit follows; else one for
///    a run; one for each line end and tab,
///  - other ASCII characters: one for each two of a run,
///  - all others: one for each byte.
/// scripts/check_agents.py compares it with tokenizers that are used.
size_t TokensOf(std::string_view text);

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_ANSWERS_TOKENS_H_
