// Trains a small transformer on the CPU, with libtorch, and annotates it with layers and
// iterations.
//
//   torch_transformer [ITERATIONS]
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/torch/torch_annotate.h"

namespace {

using oplens::annotate::ScopedIteration;
using oplens::annotate::ScopedLayer;

constexpr int64_t kVocabulary = 100;
constexpr int64_t kWidth = 32;
constexpr int64_t kHeads = 4;
constexpr int64_t kSequence = 8;
constexpr int64_t kBatch = 2;

class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl() : qkv(kWidth, 3 * kWidth), projection(kWidth, kWidth) {
    register_module("qkv", qkv);
    register_module("projection", projection);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const ScopedLayer layer("attention");
    const auto parts = qkv(x).view({x.size(0), x.size(1), 3, kHeads, -1}).permute({2, 0, 3, 1, 4});
    const torch::Tensor q = parts[0], k = parts[1], v = parts[2];
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    const torch::Tensor weights = torch::softmax(torch::matmul(q, k.transpose(-2, -1)) * scale, -1);
    return projection(torch::matmul(weights, v).transpose(1, 2).reshape(x.sizes()));
  }

 private:
  torch::nn::Linear qkv;
  torch::nn::Linear projection;
};
TORCH_MODULE(Attention);

class BlockImpl : public torch::nn::Module {
 public:
  explicit BlockImpl(std::string name)
      : name_(std::move(name)),
        norm1(torch::nn::LayerNormOptions({kWidth})),
        norm2(torch::nn::LayerNormOptions({kWidth})),
        up(kWidth, 4 * kWidth),
        down(4 * kWidth, kWidth) {
    register_module("attention", attention);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("up", up);
    register_module("down", down);
  }

  torch::Tensor forward(torch::Tensor x) {
    const ScopedLayer layer(name_.c_str());
    x = x + attention(norm1(x));
    const ScopedLayer feed_forward("feed_forward");
    return x + down(torch::gelu(up(norm2(x))));
  }

 private:
  std::string name_;
  Attention attention;
  torch::nn::LayerNorm norm1;
  torch::nn::LayerNorm norm2;
  torch::nn::Linear up;
  torch::nn::Linear down;
};
TORCH_MODULE(Block);

class LanguageModelImpl : public torch::nn::Module {
 public:
  LanguageModelImpl()
      : embedding(kVocabulary, kWidth),
        block0("block0"),
        block1("block1"),
        head(kWidth, kVocabulary) {
    register_module("embedding", embedding);
    register_module("block0", block0);
    register_module("block1", block1);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    return head(block1(block0(embedding(tokens))));
  }

 private:
  torch::nn::Embedding embedding;
  Block block0;
  Block block1;
  torch::nn::Linear head;
};
TORCH_MODULE(LanguageModel);

}  // namespace

int main(int argc, char** argv) {
  oplens::annotate::torch::Install();
  const int64_t iterations = argc > 1 ? std::atoll(argv[1]) : 2;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  LanguageModel model;
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  for (int64_t i = 0; i < iterations; ++i) {
    const ScopedIteration iteration(i);
    const auto tokens = torch::randint(kVocabulary, {kBatch, kSequence + 1}, torch::kInt64);
    const torch::Tensor scores = model(tokens.slice(1, 0, kSequence));
    const torch::Tensor next = tokens.slice(1, 1).reshape({-1});
    const torch::Tensor loss = torch::cross_entropy_loss(scores.view({-1, kVocabulary}), next);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("iteration %lld: loss %.4f\n", static_cast<long long>(i), loss.item<double>());
  }
}
