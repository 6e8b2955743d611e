#ifndef OPLENS_EXAMPLES_MLP_KERNELS_H_
#define OPLENS_EXAMPLES_MLP_KERNELS_H_

#include <cstdint>
#include <vector>

// What the example mlp_step computes with: on a GPU (mlp_kernels.cu) or on the CPU
// (mlp_kernels.cc). Matrices are row-major, fp32; pointers are what Allocate gave.

namespace oplens::examples {

/// A sentence on what is computed on, or on why nothing can be ("").
const char* DeviceDescription();
bool DeviceReady();

float* Allocate(int64_t elements);
void Free(float* data);
void Upload(const std::vector<float>& from, float* to);
std::vector<float> Download(const float* from, int64_t elements);

/// Which operand of a product is read transposed.
enum class Transposed { kNone, kFirst, kSecond };
/// c(m, n) = a(m, k) * b(k, n); a transposed operand lies in memory the other way round.
void Gemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
          Transposed transposed);
/// y(rows, columns) += bias(columns)
void AddBias(float* y, const float* bias, int64_t rows, int64_t columns);
void Relu(const float* x, float* y, int64_t elements);
/// dx = dy where y > 0, else 0
void ReluBackward(const float* dy, const float* y, float* dx, int64_t elements);
/// *loss = mean((y - target)^2)
void MseLoss(const float* y, const float* target, float* loss, int64_t elements);
void MseLossBackward(const float* y, const float* target, float* dy, int64_t elements);
/// sums(columns) = the sum over rows of x(rows, columns)
void SumRows(const float* x, float* sums, int64_t rows, int64_t columns);
/// parameter -= rate * gradient
void SgdUpdate(float* parameter, const float* gradient, float rate, int64_t elements);

}  // namespace oplens::examples

#endif  // OPLENS_EXAMPLES_MLP_KERNELS_H_
