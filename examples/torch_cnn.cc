// Trains a small convolutional network on the CPU, with libtorch, and annotates it: one line of
// code.
//
//   torch_cnn [ITERATIONS]
//
// Run it under a profiler that listens to NVTX; without one nothing is slowed down. The same
// program without the line and without oplens_torch can be annotated from outside:
//
//   LD_PRELOAD=liboplens_annotate_preload.so nsys profile --trace=cuda,nvtx ./torch_cnn
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

#ifndef OPLENS_WITHOUT_ADAPTOR
#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/torch/torch_annotate.h"
#endif

namespace {

/// Two convolutions, each with batch norm and pooling, then a classifier.
class ImageClassifierImpl : public torch::nn::Module {
 public:
  explicit ImageClassifierImpl(int64_t classes)
      : conv1(torch::nn::Conv2dOptions(3, 8, 3).padding(1)),
        norm1(8),
        conv2(torch::nn::Conv2dOptions(8, 16, 3).padding(1)),
        norm2(16),
        classifier(16 * 4 * 4, classes) {
    register_module("conv1", conv1);
    register_module("norm1", norm1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    register_module("classifier", classifier);
  }

  torch::Tensor forward(torch::Tensor images) {
    torch::Tensor x = torch::max_pool2d(torch::relu(norm1(conv1(images))), 2);
    x = torch::max_pool2d(torch::relu(norm2(conv2(x))), 2);
    return classifier(torch::dropout(x.flatten(1), 0.1, is_training()));
  }

 private:
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::Linear classifier;
};
TORCH_MODULE(ImageClassifier);

}  // namespace

int main(int argc, char** argv) {
#ifndef OPLENS_WITHOUT_ADAPTOR
  oplens::annotate::torch::Install();
#endif
  const int64_t iterations = argc > 1 ? std::atoll(argv[1]) : 2;
  constexpr int64_t kBatch = 4;
  constexpr int64_t kClasses = 10;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  ImageClassifier network(kClasses);
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  for (int64_t i = 0; i < iterations; ++i) {
#ifndef OPLENS_WITHOUT_ADAPTOR
    const oplens::annotate::ScopedIteration iteration(i);
#endif
    const torch::Tensor images = torch::randn({kBatch, 3, 16, 16});
    const torch::Tensor labels = torch::randint(kClasses, {kBatch}, torch::kInt64);
    const torch::Tensor loss = torch::cross_entropy_loss(network(images), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("iteration %lld: loss %.4f\n", static_cast<long long>(i), loss.item<double>());
  }
}
