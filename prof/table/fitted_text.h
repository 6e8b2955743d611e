#ifndef OPLENS_PROF_TABLE_FITTED_TEXT_H_
#define OPLENS_PROF_TABLE_FITTED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "prof/table/display_width.h"
#include "prof/table/field.h"

namespace oplens::prof {

// What tables for people have in common.

// Columns that texts take where a line has no limit.
inline constexpr size_t kMostReadableName = 80;
inline constexpr size_t kMostReadableSentence = 400;

/// The part of a field's text to cut: layers, paths and stacks lose their beginning, so that the
/// innermost name stays, kernels their middle, other texts their end.
Cut CutOf(const Field& field, std::string_view text);

/// The cell's text for people: of a list of files the last, "-" if unknown or empty. The view
/// points into the row, the field or `scratch`.
std::string_view ReadableText(const Field& field, const Cell& cell, std::string* scratch);

/// Appends that text without control characters: texts that are not sentences in at most `name`
/// columns, sentences in at most `text`. Numbers are never cut.
void AppendReadable(const Field& field, const Cell& cell, size_t name, size_t text,
                    std::string* out);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FITTED_TEXT_H_
