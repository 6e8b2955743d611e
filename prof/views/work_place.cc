#include "prof/views/work_place.h"

#include <string_view>

namespace oplens::prof {

WorkPlace PlaceOf(const PricedKernel& kernel, TextNumbers* texts) {
  std::string layer;
  for (const std::string_view part : kernel.layer) {
    if (!layer.empty()) layer += '/';
    layer += part;
  }
  const std::string_view op = kernel.op.empty() ? kernel.record->short_name : kernel.op;
  return {texts->NumberOf(op), texts->NumberOf(layer)};
}

}  // namespace oplens::prof
