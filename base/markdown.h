#ifndef OPLENS_BASE_MARKDOWN_H_
#define OPLENS_BASE_MARKDOWN_H_

#include <string>
#include <string_view>

namespace oplens {

// Texts of anyone in GitHub's Markdown, on one line and in a cell of a table. They show as they
// are: none ends its cell, starts a heading or a list, becomes HTML, a link, a mention or a
// reference to an issue. Invalid bytes become U+FFFD, control characters '_'.

/// A name, as code.
void AppendMarkdownCode(std::string_view name, std::string* out);

/// Words, in the running font.
void AppendMarkdownText(std::string_view text, std::string* out);

/// Lines as a block of code, which begins and ends lines of its own.
void AppendMarkdownBlock(std::string_view lines, std::string* out);

}  // namespace oplens

#endif  // OPLENS_BASE_MARKDOWN_H_
