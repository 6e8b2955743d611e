#include "ops/gpu/matrix_cores.h"

namespace oplens::ops {
namespace {

/// "_MI16x16x1": an instruction of 16 x 16. "_MI0" would be none.
bool HasMatrixInstruction(std::string_view name) {
  constexpr std::string_view kMark = "_MI";
  for (size_t at = name.find(kMark); at != name.npos; at = name.find(kMark, at + 1)) {
    const size_t digit = at + kMark.size();
    if (digit < name.size() && name[digit] >= '1' && name[digit] <= '9') return true;
  }
  return false;
}

}  // namespace

bool NamesMatrixCores(std::string_view long_name) {
  if (long_name.starts_with("Cijk_")) return HasMatrixInstruction(long_name);
  for (const std::string_view word : {"xdl", "Xdl", "mfma", "MFMA"}) {
    if (long_name.find(word) != long_name.npos) return true;
  }
  return false;
}

}  // namespace oplens::ops
