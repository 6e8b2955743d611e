// Matrix factorizations and solvers: the leading terms of LAPACK's operation counts
// (LAPACK Working Note 41; of singular values and eigenvalues: Golub and Van Loan, Matrix
// Computations), for real matrices [.., m, n]; complex ones count four times. Their work is that of
// matrix products, with which libraries compute them block by block.

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
using CountFactorization = Checked (*)(Checked l, Checked k);

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
enum class FactorizationOutput : uint8_t {
  kMatrix,  // As large as the input.
  kTwoMatrices,
  kValues,  // One for each row or column, whichever are fewer.
  kNumber,  // One a matrix.
};

struct Factorization {
  std::string_view name;
  bool square;
  FactorizationOutput output;
  CountFactorization count;
};

constexpr Factorization kFactorizations[] = {
    {"cholesky", true, FactorizationOutput::kMatrix, Cholesky},
    {"linalg_cholesky", true, FactorizationOutput::kMatrix, Cholesky},
    {"linalg_cholesky_ex", true, FactorizationOutput::kMatrix, Cholesky},
    {"linalg_ldl_factor", true, FactorizationOutput::kMatrix, Cholesky},
    {"linalg_ldl_factor_ex", true, FactorizationOutput::kMatrix, Cholesky},
    {"cholesky_inverse", true, FactorizationOutput::kMatrix, CholeskyInverse},
    {"lu", false, FactorizationOutput::kTwoMatrices, Lu},
    {"linalg_lu", false, FactorizationOutput::kTwoMatrices, Lu},
    {"lu_factor", false, FactorizationOutput::kMatrix, Lu},
    {"linalg_lu_factor", false, FactorizationOutput::kMatrix, Lu},
    {"linalg_lu_factor_ex", false, FactorizationOutput::kMatrix, Lu},
    {"_lu_with_info", false, FactorizationOutput::kMatrix, Lu},
    {"det", true, FactorizationOutput::kNumber, Lu},
    {"linalg_det", true, FactorizationOutput::kNumber, Lu},
    {"_linalg_det", true, FactorizationOutput::kNumber, Lu},
    {"logdet", true, FactorizationOutput::kNumber, Lu},
    {"slogdet", true, FactorizationOutput::kNumber, Lu},
    {"linalg_slogdet", true, FactorizationOutput::kNumber, Lu},
    {"_linalg_slogdet", true, FactorizationOutput::kNumber, Lu},
    {"inv", true, FactorizationOutput::kMatrix, Inverse},
    {"inverse", true, FactorizationOutput::kMatrix, Inverse},
    {"linalg_inv", true, FactorizationOutput::kMatrix, Inverse},
    {"linalg_inv_ex", true, FactorizationOutput::kMatrix, Inverse},
    {"qr", false, FactorizationOutput::kMatrix, Qr},
    {"linalg_qr", false, FactorizationOutput::kMatrix, Qr},
    {"geqrf", false, FactorizationOutput::kMatrix, Qr},
    {"svd", false, FactorizationOutput::kTwoMatrices, Svd},
    {"linalg_svd", false, FactorizationOutput::kTwoMatrices, Svd},
    {"_linalg_svd", false, FactorizationOutput::kTwoMatrices, Svd},
    {"svdvals", false, FactorizationOutput::kValues, SingularValues},
    {"linalg_svdvals", false, FactorizationOutput::kValues, SingularValues},
    {"eigh", true, FactorizationOutput::kMatrix, Eigh},
    {"linalg_eigh", true, FactorizationOutput::kMatrix, Eigh},
    {"_linalg_eigh", true, FactorizationOutput::kMatrix, Eigh},
    {"eigvalsh", true, FactorizationOutput::kValues, EigenvaluesOfHermitian},
    {"linalg_eigvalsh", true, FactorizationOutput::kValues, EigenvaluesOfHermitian},
    {"eig", true, FactorizationOutput::kMatrix, Eig},
    {"linalg_eig", true, FactorizationOutput::kMatrix, Eig},
    {"eigvals", true, FactorizationOutput::kValues, Eigenvalues},
    {"linalg_eigvals", true, FactorizationOutput::kValues, Eigenvalues},
};

int RealPerComplex(DType type) { return CategoryOf(type) == DTypeCategory::kComplex ? 4 : 1; }

// Leading terms of products.
PriceResult Estimated(PriceResult result) {
  result.price->matmul_like = true;
  result.price->mma_estimated = true;
  result.price->vec_estimated = false;
  return result;
}

Checked FactorizationOutputBytes(FactorizationOutput output, const Tensor& a, Checked batch,
                                 int64_t k) {
  switch (output) {
    case FactorizationOutput::kMatrix:
      break;
    case FactorizationOutput::kTwoMatrices:
      return a.bytes() * 2;
    case FactorizationOutput::kValues:
      return BytesOf(batch * k, a.dtype);
    case FactorizationOutput::kNumber:
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
                     a.bytes() + FactorizationOutputBytes(row->output, a, batch, k)};
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
constexpr OpModel kFactorizationModels[] = {{kFactorizationNames, PriceFactorization},
                                            {kSolveNames, PriceSolve}};

}  // namespace

std::span<const OpModel> FactorizationOps() { return kFactorizationModels; }

}  // namespace oplens::ops
