// Trains a two-layer perceptron without a framework, and annotates what it does: layers, ops with
// shapes and types, backward nodes that know their forward op, iterations and phases.
//
//   mlp_step [ITERATIONS]      2 by default; prints the loss of each
//
// Built twice: mlp_step_cuda computes with kernels of its own on a GPU, mlp_step on the CPU. Run it
// under a profiler that records NVTX ranges, then `parse` and `prof` the file.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "examples/mlp_kernels.h"
#include "nvtx_annotate/annotate.h"

namespace {

using namespace oplens::examples;
using namespace oplens::annotate;

constexpr int64_t kBatch = 64;
constexpr int64_t kInputs = 128;
constexpr int64_t kHidden = 256;
constexpr int64_t kOutputs = 32;
constexpr float kRate = 0.1f;

/// A matrix in the memory of the device.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), data_(Allocate(rows * columns)) {}
  ~Matrix() { Free(data_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  /// Fills it with numbers between -scale and scale that look random and are the same in every run.
  void Fill(float scale) {
    std::vector<float> values(static_cast<size_t>(size()));
    uint32_t state = static_cast<uint32_t>(size());
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = scale * (static_cast<float>(state >> 8) / 8388608.0f - 1);
    }
    Upload(values, data_);
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t size() const { return rows_ * columns_; }
  float* data() { return data_; }
  const float* data() const { return data_; }

 private:
  int64_t rows_;
  int64_t columns_;
  float* data_;
};

/// y = x * weight^T + bias, and its gradients.
class Linear {
 public:
  Linear(int64_t inputs, int64_t outputs)
      : weight_(outputs, inputs),
        bias_(1, outputs),
        weight_gradient_(outputs, inputs),
        bias_gradient_(1, outputs) {
    weight_.Fill(1 / std::sqrt(static_cast<float>(inputs)));
    bias_.Fill(0.01f);
  }

  void Forward(const Matrix& x, Matrix* y) {
    ScopedForward op({"torch.nn.functional", "linear"},
                     Tensor({x.rows(), x.columns()}, DType::kFloat32),
                     Tensor({weight_.rows(), weight_.columns()}, DType::kFloat32),
                     Tensor({bias_.columns()}, DType::kFloat32));
    link_ = op.link();
    Gemm(x.data(), weight_.data(), y->data(), x.rows(), weight_.rows(), x.columns(),
         Transposed::kSecond);
    AddBias(y->data(), bias_.data(), y->rows(), y->columns());
  }

  /// `dx` null: nobody asks for the gradient of the input.
  void Backward(const Matrix& x, const Matrix& dy, Matrix* dx) {
    ScopedBackward node("LinearBackward", link_);
    {
      ScopedOp wgrad({"torch", "mm"}, Tensor({dy.columns(), dy.rows()}, DType::kFloat32),
                     Tensor({x.rows(), x.columns()}, DType::kFloat32));
      Gemm(dy.data(), x.data(), weight_gradient_.data(), dy.columns(), x.columns(), x.rows(),
           Transposed::kFirst);
    }
    {
      ScopedOp bgrad({"torch", "sum"}, Tensor({dy.rows(), dy.columns()}, DType::kFloat32),
                     Arg(0).Named("dim"));
      SumRows(dy.data(), bias_gradient_.data(), dy.rows(), dy.columns());
    }
    if (dx == nullptr) return;
    ScopedOp dgrad({"torch", "mm"}, Tensor({dy.rows(), dy.columns()}, DType::kFloat32),
                   Tensor({weight_.rows(), weight_.columns()}, DType::kFloat32));
    Gemm(dy.data(), weight_.data(), dx->data(), dy.rows(), weight_.columns(), dy.columns(),
         Transposed::kNone);
  }

  void Update() {
    Step(&weight_, weight_gradient_);
    Step(&bias_, bias_gradient_);
  }

 private:
  static void Step(Matrix* parameter, const Matrix& gradient) {
    const int64_t extents[] = {parameter->rows(), parameter->columns()};
    ScopedOp op({"Tensor", "add_"}, Tensor(extents, 2, DType::kFloat32),
                Tensor(extents, 2, DType::kFloat32), Arg(-kRate).Named("alpha"));
    SgdUpdate(parameter->data(), gradient.data(), kRate, parameter->size());
  }

  Matrix weight_;
  Matrix bias_;
  Matrix weight_gradient_;
  Matrix bias_gradient_;
  ForwardLink link_ = kNoLink;
};

class Network {
 public:
  Network() : first_(kInputs, kHidden), second_(kHidden, kOutputs) {
    x_.Fill(1);
    target_.Fill(0.5f);
  }

  void Train(int64_t iteration) {
    ScopedIteration range(iteration);
    Forward();
    Backward();
    ScopedPhase phase(Phase::kOptimizer);
    first_.Update();
    second_.Update();
  }

  float loss() const { return Download(loss_.data(), 1)[0]; }

 private:
  void Forward() {
    ScopedPhase phase(Phase::kForward);
    {
      ScopedLayer layer("hidden");
      first_.Forward(x_, &sum_);
      ScopedForward op({"torch.nn.functional", "relu"}, Tensor({kBatch, kHidden}, DType::kFloat32));
      relu_link_ = op.link();
      Relu(sum_.data(), hidden_.data(), hidden_.size());
    }
    {
      ScopedLayer layer("output");
      second_.Forward(hidden_, &y_);
    }
    ScopedForward op({"torch.nn.functional", "mse_loss"},
                     Tensor({kBatch, kOutputs}, DType::kFloat32),
                     Tensor({kBatch, kOutputs}, DType::kFloat32));
    loss_link_ = op.link();
    MseLoss(y_.data(), target_.data(), loss_.data(), y_.size());
  }

  void Backward() {
    ScopedPhase phase(Phase::kBackward);
    {
      ScopedBackward node("MseLossBackward", loss_link_);
      MseLossBackward(y_.data(), target_.data(), dy_.data(), y_.size());
    }
    second_.Backward(hidden_, dy_, &dhidden_);
    {
      ScopedBackward node("ReluBackward", relu_link_);
      ReluBackward(dhidden_.data(), hidden_.data(), dsum_.data(), hidden_.size());
    }
    first_.Backward(x_, dsum_, nullptr);
  }

  Linear first_;
  Linear second_;
  Matrix x_{kBatch, kInputs};
  Matrix sum_{kBatch, kHidden};
  Matrix hidden_{kBatch, kHidden};
  Matrix y_{kBatch, kOutputs};
  Matrix target_{kBatch, kOutputs};
  Matrix loss_{1, 1};
  Matrix dy_{kBatch, kOutputs};
  Matrix dhidden_{kBatch, kHidden};
  Matrix dsum_{kBatch, kHidden};
  ForwardLink relu_link_ = kNoLink;
  ForwardLink loss_link_ = kNoLink;
};

}  // namespace

int main(int argc, char** argv) {
  const long iterations = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2;
  if (iterations < 1) {
    std::fprintf(stderr, "mlp_step: ITERATIONS must be a number above 0\n");
    return 2;
  }
  if (!DeviceReady()) {
    std::fprintf(stderr, "mlp_step: no GPU to compute on: %s\n", DeviceDescription());
    return 1;
  }
  std::printf("on %s\n", DeviceDescription());
  Network network;
  for (long i = 0; i < iterations; ++i) {
    network.Train(i);
    std::printf("iteration %ld: loss %.6f\n", i, static_cast<double>(network.loss()));
  }
  return 0;
}
