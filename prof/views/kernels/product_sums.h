#ifndef OPLENS_PROF_VIEWS_KERNELS_PRODUCT_SUMS_H_
#define OPLENS_PROF_VIEWS_KERNELS_PRODUCT_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sums.h"
#include "ops/dtype.h"

namespace oplens::prof {

class Run;
struct PricedKernel;

enum class ProductKind : uint8_t {
  kNone,  ///< FLOPs of products whose sizes are not one product's, or of many rare sizes.
  kGemm,
  kConvolution,
  kAttention,
};
constexpr size_t WordCountOf(ProductKind) { return 4; }

/// Sizes of a product Y[m,n] = A[m,k] B[k,n], `batch` times (ops::MatrixProduct). Of GEMMs with
/// batch 1, and of convolutions, m is a row count and no part of the key: 0.
struct ProductKey {
  ProductKind kind = ProductKind::kNone;
  int64_t batch = 0;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  friend auto operator<=>(const ProductKey&, const ProductKey&) = default;
};

/// FLOPs of matrix products.
struct ProductSums {
  Sum forward;
  Sum backward;
  Sum again;  ///< Recomputed in the backward pass.
  Sum time_ns;

  int64_t Counted() const { return forward + backward; }
};

/// Products of one type on GPUs of one peak rate.
struct ProductType {
  std::string type;        ///< "bf16"; "fp32 as tf32" where that is the unit of the peak.
  int64_t peak_per_s = 0;  ///< Dense; 0: unknown.

  friend auto operator<=>(const ProductType&, const ProductType&) = default;
};
struct TypeSums {
  Sum flops;     ///< Without what is recomputed.
  Sum ideal_ps;  ///< At the peak rate.
  Sum again;
  Sum again_ideal_ps;
};

/// A module with a number in its name, one of several alike: "model.layers" and 3.
struct NumberedLayer {
  std::string name;
  int64_t number = 0;

  friend auto operator<=>(const NumberedLayer&, const NumberedLayer&) = default;
};

/// The products that a rank ran in the steps that count.
struct ProductsOfRank {
  std::map<ProductKey, ProductSums> products;
  std::map<ProductType, TypeSums> types;
  std::map<NumberedLayer, ProductSums> layers;  ///< If asked for.
  Count steps;
  Sum total_ns;     ///< Of these steps,
  Sum capacity_ns;  ///< times the rank's GPUs.
  Sum cold_ns;      ///< Of these, before the work begins (a run without steps).
  Sum kernel_ns;    ///< Of their kernels,
  Sum unknown_ns;   ///< and of those without known FLOPs.
  Sum requests;     ///< As a server's labels tell.
  Sum tokens;
  Any forward;  ///< Kernels of this direction ran.
  Any backward;
  Any steady;  ///< They are the steady steps; else all are meant.
  Any marked;  ///< Steps are marked or repeat; else the whole run is one.

  ProductSums Total() const;
};

/// Gathers the products of one rank.
class ProductGatherer {
 public:
  explicit ProductGatherer(bool by_layer) : by_layer_(by_layer) {}

  void Begin(const Run& run);
  void Add(const PricedKernel& kernel);
  ProductsOfRank Take();

 private:
  const Run* run_ = nullptr;
  bool by_layer_;
  std::vector<bool> counts_;  // By index of the step.
  ProductsOfRank found_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_PRODUCT_SUMS_H_
