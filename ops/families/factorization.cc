// Matrix factorizations and solvers: the leading terms of LAPACK's operation counts
// (LAPACK Working Note 41; of singular values and eigenvalues: Golub and Van Loan, Matrix
// Computations), for real matrices [.., m, n]; complex ones count four times. Their work is that of
// matrix products, with which libraries compute them block by block.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs of one matrix whose larger extent is l and whose smaller one is k.
using Count = Checked (*)(Checked l, Checked k);

Checked Cholesky(Checked, Checked k) { return k * k * k / 3; }
Checked CholeskyInverse(Checked, Checked k) { return k * k * k * 2 / 3; }
Checked Lu(Checked l, Checked k) { return k * k * (l * 3 - k) / 3; }
Checked Inverse(Checked, Checked k) { return k * k * k * 2; }
Checked Qr(Checked l, Checked k) { return k * k * (l * 3 - k) * 2 / 3; }
Checked Svd(Checked l, Checked k) { return l * k * k * 6 + k * k * k * 20; }
Checked SingularValues(Checked l, Checked k) { return k * k * (l * 3 - k) * 4 / 3; }
Checked Eigh(Checked, Checked k) { return k * k * k * 9; }
Checked EigenvaluesOfHermitian(Checked, Checked k) { return k * k * k * 4 / 3; }
Checked Eig(Checked, Checked k) { return k * k * k * 25; }
Checked Eigenvalues(Checked, Checked k) { return k * k * k * 10; }

// What is written.
enum class Output : uint8_t {
  kMatrix,  // As large as the input.
  kTwoMatrices,
  kValues,  // One for each row or column, whichever are fewer.
  kNumber,  // One a matrix.
};

struct Factorization {
  std::string_view name;
  bool square;
  Output output;
  Count count;
};

constexpr Factorization kFactorizations[] = {
    {"cholesky", true, Output::kMatrix, Cholesky},
    {"linalg_cholesky", true, Output::kMatrix, Cholesky},
    {"linalg_cholesky_ex", true, Output::kMatrix, Cholesky},
    {"linalg_ldl_factor", true, Output::kMatrix, Cholesky},
    {"linalg_ldl_factor_ex", true, Output::kMatrix, Cholesky},
    {"cholesky_inverse", true, Output::kMatrix, CholeskyInverse},
    {"lu", false, Output::kTwoMatrices, Lu},
    {"linalg_lu", false, Output::kTwoMatrices, Lu},
    {"lu_factor", false, Output::kMatrix, Lu},
    {"linalg_lu_factor", false, Output::kMatrix, Lu},
    {"linalg_lu_factor_ex", false, Output::kMatrix, Lu},
    {"_lu_with_info", false, Output::kMatrix, Lu},
    {"det", true, Output::kNumber, Lu},
    {"linalg_det", true, Output::kNumber, Lu},
    {"_linalg_det", true, Output::kNumber, Lu},
    {"logdet", true, Output::kNumber, Lu},
    {"slogdet", true, Output::kNumber, Lu},
    {"linalg_slogdet", true, Output::kNumber, Lu},
    {"_linalg_slogdet", true, Output::kNumber, Lu},
    {"inv", true, Output::kMatrix, Inverse},
    {"inverse", true, Output::kMatrix, Inverse},
    {"linalg_inv", true, Output::kMatrix, Inverse},
    {"linalg_inv_ex", true, Output::kMatrix, Inverse},
    {"qr", false, Output::kMatrix, Qr},
    {"linalg_qr", false, Output::kMatrix, Qr},
    {"geqrf", false, Output::kMatrix, Qr},
    {"svd", false, Output::kTwoMatrices, Svd},
    {"linalg_svd", false, Output::kTwoMatrices, Svd},
    {"_linalg_svd", false, Output::kTwoMatrices, Svd},
    {"svdvals", false, Output::kValues, SingularValues},
    {"linalg_svdvals", false, Output::kValues, SingularValues},
    {"eigh", true, Output::kMatrix, Eigh},
    {"linalg_eigh", true, Output::kMatrix, Eigh},
    {"_linalg_eigh", true, Output::kMatrix, Eigh},
    {"eigvalsh", true, Output::kValues, EigenvaluesOfHermitian},
    {"linalg_eigvalsh", true, Output::kValues, EigenvaluesOfHermitian},
    {"eig", true, Output::kMatrix, Eig},
    {"linalg_eig", true, Output::kMatrix, Eig},
    {"eigvals", true, Output::kValues, Eigenvalues},
    {"linalg_eigvals", true, Output::kValues, Eigenvalues},
};

int RealPerComplex(DType type) { return CategoryOf(type) == DTypeCategory::kComplex ? 4 : 1; }

// Leading terms of products.
PriceResult Estimated(PriceResult result) {
  result.price->matmul_like = true;
  result.price->mma_estimated = true;
  result.price->vec_estimated = false;
  return result;
}

Checked OutputBytes(Output output, const Tensor& a, Checked batch, int64_t k) {
  switch (output) {
    case Output::kMatrix:
      break;
    case Output::kTwoMatrices:
      return a.bytes() * 2;
    case Output::kValues:
      return BytesOf(batch * k, a.dtype);
    case Output::kNumber:
      return BytesOf(batch, a.dtype);
  }
  return a.bytes();
}

PriceResult PriceFactorization(std::string_view op, const OpCall& call) {
  const Factorization* row = FindRow(kFactorizations, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"A|input|self", "1", "2", "3"});
  const Tensor a = args.RequireTensor(0);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = a.shape.size();
  if (rank < 2) return Unpriced(Reason::kShapeMismatch);
  const auto [k, l] = std::minmax(a.shape[rank - 2], a.shape[rank - 1]);
  if (row->square && k != l) return Unpriced(Reason::kShapeMismatch);
  const Checked batch = Elements(a.shape.first(rank - 2));
  const Work forward{batch * row->count(l, k) * RealPerComplex(a.dtype), 0,
                     a.bytes() + OutputBytes(row->output, a, batch, k)};
  return Estimated(Priced(TensorText(a), forward, std::vector<PartWork>()));
}

// ---- solvers ----

struct Solver {
  std::string_view name;
  bool right_side_first;
  bool factorizes;  // Else the matrix is a factorization.
  int per_element;  // FLOPs an element of the solution, times n.
};

constexpr Solver kSolvers[] = {
    {"linalg_solve", false, true, 2},
    {"linalg_solve_ex", false, true, 2},
    {"_linalg_solve_ex", false, true, 2},
    {"solve", false, true, 2},
    {"linalg_solve_triangular", false, false, 1},
    {"solve_triangular", false, false, 1},
    {"triangular_solve", true, false, 1},
    {"cholesky_solve", true, false, 2},
    {"lu_solve", true, false, 2},
    {"linalg_ldl_solve", false, false, 2},
};

// The shape of the solution: leading dimensions broadcast; a right side of one dimension less than
// the matrix is a batch of vectors. nullopt when the shapes do not fit.
std::optional<std::vector<int64_t>> SolutionShape(Shape a, Shape b) {
  const size_t rank = a.size();
  const int64_t n = a[rank - 1];
  const bool vectors =
      b.size() == 1 || (b.size() + 1 == rank && std::equal(b.begin(), b.end(), a.begin()));
  const size_t inner = vectors ? 1 : 2;
  if (b.size() < inner) return std::nullopt;
  const Shape last = b.last(inner);
  if (std::find(last.begin(), last.end(), n) == last.end()) return std::nullopt;
  auto shape = Broadcast({a.first(rank - 2), b.first(b.size() - inner)});
  if (shape) shape->insert(shape->end(), last.begin(), last.end());
  return shape;
}

// Solves A X = B. The old torch.solve(B, A) has the right side first.
PriceResult PriceSolve(std::string_view op, const OpCall& call) {
  const Solver* row = FindRow(kSolvers, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  const bool reversed = row->right_side_first || (op == "solve" && call.mod == "torch");
  CallArgs args =
      reversed ? CallArgs(call, {"b|B|input|self", "A|input2|LU_data|other", "2", "3", "4", "5"})
               : CallArgs(call, {"A|input|self|LD", "B|other", "2", "3", "4", "5"});
  Tensor a = args.RequireTensor(0);
  Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (reversed) std::swap(a, b);
  const size_t rank = a.shape.size();
  if (rank < 2 || a.shape[rank - 1] != a.shape[rank - 2]) return Unpriced(Reason::kShapeMismatch);
  const auto solution = SolutionShape(a.shape, b.shape);
  if (!solution) return Unpriced(Reason::kShapeMismatch);
  const int64_t n = a.shape[rank - 1];
  const Checked elements = Elements(*solution);
  Checked flops = elements * n * row->per_element;
  if (row->factorizes) flops += Elements(a.shape.first(rank - 2)) * Lu(n, n);
  const Tensor tensors[] = {a, b};
  const Work forward{flops * RealPerComplex(PromoteDTypes(a.dtype, b.dtype)), 0,
                     a.bytes() + b.bytes() + BytesOf(elements, b.dtype)};
  return Estimated(Priced(TensorsText(tensors), forward, std::vector<PartWork>()));
}

constexpr auto kFactorizationNames = NamesOf(kFactorizations);
constexpr auto kSolveNames = NamesOf(kSolvers);
constexpr OpModel kModels[] = {{kFactorizationNames, PriceFactorization},
                               {kSolveNames, PriceSolve}};

}  // namespace

std::span<const OpModel> FactorizationOps() { return kModels; }

}  // namespace oplens::ops
