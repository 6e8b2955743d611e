// Matrix factorizations and solvers: the leading terms of LAPACK's operation counts
// (LAPACK Working Note 41), for real matrices [.., m, n]; complex ones count four times.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs of one matrix with m rows and n columns.
using Count = Checked (*)(Checked m, Checked n);

struct Factorization {
  std::string_view name;
  bool square;
  int outputs;  // Tensors of the input's size that are written.
  Count count;
};

constexpr Factorization kFactorizations[] = {
    {"cholesky", true, 1, [](Checked, Checked n) { return n * n * n / 3; }},
    {"linalg_cholesky", true, 1, [](Checked, Checked n) { return n * n * n / 3; }},
    {"linalg_cholesky_ex", true, 1, [](Checked, Checked n) { return n * n * n / 3; }},
    {"linalg_lu", true, 2, [](Checked, Checked n) { return n * n * n * 2 / 3; }},
    {"linalg_lu_factor", true, 1, [](Checked, Checked n) { return n * n * n * 2 / 3; }},
    {"linalg_lu_factor_ex", true, 1, [](Checked, Checked n) { return n * n * n * 2 / 3; }},
    {"inverse", true, 1, [](Checked, Checked n) { return n * n * n * 2; }},
    {"linalg_inv", true, 1, [](Checked, Checked n) { return n * n * n * 2; }},
    {"linalg_inv_ex", true, 1, [](Checked, Checked n) { return n * n * n * 2; }},
    {"linalg_eigh", true, 1, [](Checked, Checked n) { return n * n * n * 9; }},
    {"linalg_qr", false, 1,
     [](Checked m, Checked n) {
       // 2 k^2 (l - k/3) with k the smaller and l the larger extent.
       const Checked k = std::min(m.Value().value_or(0), n.Value().value_or(0));
       const Checked l = std::max(m.Value().value_or(0), n.Value().value_or(0));
       return k * k * (l * 3 - k) * 2 / 3;
     }},
    {"linalg_svd", false, 2,
     [](Checked m, Checked n) {
       // 6 l k^2 + 20 k^3, with singular vectors.
       const Checked k = std::min(m.Value().value_or(0), n.Value().value_or(0));
       const Checked l = std::max(m.Value().value_or(0), n.Value().value_or(0));
       return l * k * k * 6 + k * k * k * 20;
     }},
};

PriceResult PriceFactorization(std::string_view op, const OpCall& call) {
  const Factorization* row = FindRow(kFactorizations, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"A|input|self", "1", "2", "3"});
  const Tensor a = args.RequireTensor(0);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = a.shape.size();
  if (rank < 2) return Unpriced(Reason::kShapeMismatch);
  const int64_t m = a.shape[rank - 2];
  const int64_t n = a.shape[rank - 1];
  if (row->square && m != n) return Unpriced(Reason::kShapeMismatch);
  const Checked batch = Elements(a.shape.first(rank - 2));
  const bool complex = CategoryOf(a.dtype) == DTypeCategory::kComplex;
  Work forward;
  forward.vec = batch * row->count(m, n) * (complex ? 4 : 1);
  forward.bytes = a.bytes() * (1 + row->outputs);
  return Priced(TensorText(a), forward, std::vector<PartWork>());
}

// Solves A X = B: an LU factorization and two triangular solutions.
PriceResult PriceSolve(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"A|input|self", "B|other", "upper", "left", "unitriangular", "out"});
  Tensor a = args.RequireTensor(0);
  Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  // triangular_solve(B, A): the right side comes first.
  if (op == "triangular_solve") std::swap(a, b);
  const size_t rank = a.shape.size();
  if (rank < 2 || a.shape[rank - 1] != a.shape[rank - 2] || b.shape.empty()) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t n = a.shape[rank - 1];
  const Checked batch = Elements(a.shape.first(rank - 2));
  const bool complex = CategoryOf(a.dtype) == DTypeCategory::kComplex;
  const bool triangular = op == "triangular_solve" || op == "linalg_solve_triangular";
  Checked flops = b.elements() * n * (triangular ? 1 : 2);
  if (!triangular) flops += batch * n * n * n * 2 / 3;
  const Tensor tensors[] = {a, b};
  const Work forward{0, flops * (complex ? 4 : 1), a.bytes() + b.bytes() * 2};
  return Priced(TensorsText(tensors), forward, std::vector<PartWork>());
}

constexpr auto kFactorizationNames = NamesOf(kFactorizations);
constexpr std::string_view kSolveNames[] = {"linalg_solve", "linalg_solve_triangular",
                                            "triangular_solve"};
constexpr OpModel kModels[] = {{kFactorizationNames, PriceFactorization},
                               {kSolveNames, PriceSolve}};

}  // namespace

std::span<const OpModel> FactorizationOps() { return kModels; }

}  // namespace oplens::ops
