// The kernels of mlp_step on a GPU: simple ones, to be looked at in a profile.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "examples/mlp_kernels.h"

namespace oplens::examples {
namespace {

constexpr int kTile = 16;
constexpr int kThreads = 256;

/// An example has nothing better to do with an error than to say it.
void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "mlp_step: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

unsigned Blocks(int64_t elements) { return static_cast<unsigned>((elements + kThreads - 1) / kThreads); }

__global__ void gemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                     bool first, bool second) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int64_t row = blockIdx.y * kTile + threadIdx.y;
  const int64_t column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int64_t start = 0; start < k; start += kTile) {
    const int64_t a_column = start + threadIdx.x;
    const int64_t b_row = start + threadIdx.y;
    const bool a_inside = row < m && a_column < k;
    const bool b_inside = b_row < k && column < n;
    a_tile[threadIdx.y][threadIdx.x] = a_inside ? a[first ? a_column * m + row : row * k + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_inside ? b[second ? column * k + b_row : b_row * n + column] : 0;
    __syncthreads();
    for (int l = 0; l < kTile; ++l) sum += a_tile[threadIdx.y][l] * b_tile[l][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__device__ int64_t Index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void add_bias(float* y, const float* bias, int64_t elements, int64_t columns) {
  if (Index() < elements) y[Index()] += bias[Index() % columns];
}

__global__ void relu(const float* x, float* y, int64_t elements) {
  if (Index() < elements) y[Index()] = fmaxf(x[Index()], 0);
}

__global__ void relu_backward(const float* dy, const float* y, float* dx, int64_t elements) {
  if (Index() < elements) dx[Index()] = y[Index()] > 0 ? dy[Index()] : 0;
}

/// One block: each thread sums a stride, then the block sums its threads.
__global__ void mse_loss(const float* y, const float* target, float* loss, int64_t elements) {
  __shared__ float sums[kThreads];
  float sum = 0;
  for (int64_t i = threadIdx.x; i < elements; i += kThreads) {
    sum += (y[i] - target[i]) * (y[i] - target[i]);
  }
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *loss = sums[0] / elements;
}

__global__ void mse_loss_backward(const float* y, const float* target, float* dy, int64_t elements) {
  if (Index() < elements) dy[Index()] = 2 * (y[Index()] - target[Index()]) / elements;
}

__global__ void sum_rows(const float* x, float* sums, int64_t rows, int64_t columns) {
  if (Index() >= columns) return;
  float sum = 0;
  for (int64_t row = 0; row < rows; ++row) sum += x[row * columns + Index()];
  sums[Index()] = sum;
}

__global__ void sgd_update(float* parameter, const float* gradient, float rate, int64_t elements) {
  if (Index() < elements) parameter[Index()] -= rate * gradient[Index()];
}

}  // namespace

const char* DeviceDescription() {
  static std::string description;
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, 0);
  description = error == cudaSuccess ? properties.name : cudaGetErrorString(error);
  return description.c_str();
}

bool DeviceReady() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

float* Allocate(int64_t elements) {
  float* data = nullptr;
  Check(cudaMalloc(&data, static_cast<size_t>(elements) * sizeof(float)), "allocating");
  return data;
}

void Free(float* data) { cudaFree(data); }

void Upload(const std::vector<float>& from, float* to) {
  Check(cudaMemcpy(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice), "uploading");
}

std::vector<float> Download(const float* from, int64_t elements) {
  std::vector<float> values(static_cast<size_t>(elements));
  Check(cudaMemcpy(values.data(), from, values.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "downloading");
  return values;
}

void Gemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
          Transposed transposed) {
  const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
  gemm<<<grid, dim3(kTile, kTile)>>>(a, b, c, m, n, k, transposed == Transposed::kFirst,
                                     transposed == Transposed::kSecond);
}

void AddBias(float* y, const float* bias, int64_t rows, int64_t columns) {
  add_bias<<<Blocks(rows * columns), kThreads>>>(y, bias, rows * columns, columns);
}

void Relu(const float* x, float* y, int64_t elements) {
  relu<<<Blocks(elements), kThreads>>>(x, y, elements);
}

void ReluBackward(const float* dy, const float* y, float* dx, int64_t elements) {
  relu_backward<<<Blocks(elements), kThreads>>>(dy, y, dx, elements);
}

void MseLoss(const float* y, const float* target, float* loss, int64_t elements) {
  mse_loss<<<1, kThreads>>>(y, target, loss, elements);
}

void MseLossBackward(const float* y, const float* target, float* dy, int64_t elements) {
  mse_loss_backward<<<Blocks(elements), kThreads>>>(y, target, dy, elements);
}

void SumRows(const float* x, float* sums, int64_t rows, int64_t columns) {
  sum_rows<<<Blocks(columns), kThreads>>>(x, sums, rows, columns);
}

void SgdUpdate(float* parameter, const float* gradient, float rate, int64_t elements) {
  sgd_update<<<Blocks(elements), kThreads>>>(parameter, gradient, rate, elements);
}

}  // namespace oplens::examples
