// The kernels of mlp_step as plain loops, for machines without a GPU.
#include "examples/mlp_kernels.h"

#include <algorithm>

namespace oplens::examples {

const char* DeviceDescription() { return "the CPU"; }
bool DeviceReady() { return true; }

float* Allocate(int64_t elements) { return new float[static_cast<size_t>(elements)](); }
void Free(float* data) { delete[] data; }
void Upload(const std::vector<float>& from, float* to) { std::copy(from.begin(), from.end(), to); }
std::vector<float> Download(const float* from, int64_t elements) { return {from, from + elements}; }

void Gemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
          Transposed transposed) {
  const bool first = transposed == Transposed::kFirst;
  const bool second = transposed == Transposed::kSecond;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += a[first ? l * m + i : i * k + l] * b[second ? j * k + l : l * n + j];
      }
      c[i * n + j] = sum;
    }
  }
}

void AddBias(float* y, const float* bias, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows * columns; ++i) y[i] += bias[i % columns];
}

void Relu(const float* x, float* y, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) y[i] = std::max(x[i], 0.0f);
}

void ReluBackward(const float* dy, const float* y, float* dx, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
}

void MseLoss(const float* y, const float* target, float* loss, int64_t elements) {
  float sum = 0;
  for (int64_t i = 0; i < elements; ++i) sum += (y[i] - target[i]) * (y[i] - target[i]);
  *loss = sum / static_cast<float>(elements);
}

void MseLossBackward(const float* y, const float* target, float* dy, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    dy[i] = 2 * (y[i] - target[i]) / static_cast<float>(elements);
  }
}

void SumRows(const float* x, float* sums, int64_t rows, int64_t columns) {
  std::fill_n(sums, columns, 0.0f);
  for (int64_t i = 0; i < rows * columns; ++i) sums[i % columns] += x[i];
}

void SgdUpdate(float* parameter, const float* gradient, float rate, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) parameter[i] -= rate * gradient[i];
}

}  // namespace oplens::examples
