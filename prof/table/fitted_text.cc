#include "prof/table/fitted_text.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace oplens::prof {

Cut CutOf(const Field& field, std::string_view text) {
  if (field.type == FieldType::kFileList) return Cut::kLeft;
  // Texts ordered from the outermost, and paths.
  constexpr std::string_view kInwards[] = {":", " > ", ";"};
  if (std::ranges::find(kInwards, field.separator) != std::end(kInwards)) return Cut::kLeft;
  constexpr std::string_view kPlaces[] = {"layer", "path", "stack", "place"};
  if (std::ranges::find(kPlaces, field.key) != std::end(kPlaces)) return Cut::kLeft;
  if (field.type == FieldType::kName) return Cut::kMiddle;
  if (text.find_first_of("<(") != std::string_view::npos) return Cut::kMiddle;
  const bool path = text.find('/') != std::string_view::npos && text.find(' ') == text.npos;
  return path ? Cut::kLeft : Cut::kRight;
}

std::string_view ReadableText(const Field& field, const Cell& cell, std::string* scratch) {
  std::string_view text = CellText(field, cell, scratch);
  const auto* list = std::get_if<Cell::Texts>(&cell.value);
  if (field.type == FieldType::kFileList && list != nullptr && !list->texts.empty()) {
    text = list->texts.back();
  }
  return text.empty() ? std::string_view("-") : text;
}

void AppendReadable(const Field& field, const Cell& cell, size_t name, size_t text,
                    std::string* out) {
  std::string scratch;
  std::string valid;
  AppendUtf8(ReadableText(field, cell, &scratch), Utf8Hidden::kControls, &valid);
  if (IsNumber(field)) {
    out->append(valid);
    return;
  }
  const Cut cut = CutOf(field, valid);
  const bool sentence =
      cut != Cut::kLeft && field.type == FieldType::kText && valid.find(' ') != std::string::npos;
  AppendCut(valid, sentence ? text : name, cut, out);
}

}  // namespace oplens::prof
