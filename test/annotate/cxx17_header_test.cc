// Compiled as C++17: the headers that user programs include.

#include <cstddef>
#include <cstdint>
#include <string>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/schedule.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

static_assert(__cplusplus == 201703L);

namespace oplens::test {

void EmitFromCxx17();

void EmitFromCxx17() {
  const annotate::ScopedLayer layer("old");
  const annotate::ScopedOp op({"torch", "op", nullptr, 0}, 1);
}

/// What programs have at hand: sizes without sign, and names that they put together.
void EmitFromSizes();

void EmitFromSizes() {
  using annotate::DType;
  const size_t rows = 4;
  const uint32_t columns = 3;
  const std::string name = "block" + std::to_string(rows);
  const annotate::ScopedLayer layer(name);
  const annotate::ScopedLayer inner(std::string("norm"));
  const annotate::ScopedOp op(
      {"torch", "op", nullptr, 0}, annotate::Tensor({rows, columns, 2}, DType::kFloat32),
      annotate::Tensor({rows, size_t{7}}, DType::kInt8), annotate::Tensor({}, DType::kFloat64),
      annotate::IntTuple({rows, -1}), annotate::IntList({columns, short{2}}));
}

}  // namespace oplens::test
