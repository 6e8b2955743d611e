// torch_overhead [--large] [SECONDS]: trains a small network on one thread of the CPU and prints
// the median time of an iteration in nanoseconds. Knows nothing of oplens: bench/torch_overhead.sh
// runs it with and without the adaptor. The ops take about half a microsecond, with --large 20 and
// more.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace {

struct Sizes {
  int64_t batch;
  int64_t channels;
  int64_t image;
  int64_t width;
  int64_t sequence;
};
constexpr Sizes kSmall = {1, 4, 8, 16, 4};
constexpr Sizes kLarge = {4, 16, 16, 128, 32};
constexpr int64_t kHeads = 2;
constexpr int64_t kClasses = 10;
constexpr int kLayers = 2;

using torch::Tensor;

/// The parameters of one layer of the transformer.
struct Layer {
  torch::nn::Linear query, key, value, output, up, down;
  torch::nn::LayerNorm norm1, norm2;

  explicit Layer(int64_t width)
      : query(width, width),
        key(width, width),
        value(width, width),
        output(width, width),
        up(width, 2 * width),
        down(2 * width, width),
        norm1(torch::nn::LayerNormOptions({width})),
        norm2(torch::nn::LayerNormOptions({width})) {}

  Tensor Heads(const Tensor& x) const {
    return x.view({x.size(0), x.size(1), kHeads, -1}).transpose(1, 2);
  }
  Tensor Forward(const Tensor& x) {
    const Tensor normed = norm1(x);
    const Tensor q = Heads(query(normed)), k = Heads(key(normed)), v = Heads(value(normed));
    const Tensor weights = torch::softmax(torch::matmul(q, k.transpose(-2, -1)) * 0.25, -1);
    const Tensor mixed = torch::matmul(weights, v).transpose(1, 2).reshape(x.sizes());
    const Tensor y = x + torch::dropout(output(mixed), 0.1, true);
    return y + torch::dropout(down(torch::gelu(up(norm2(y)))), 0.1, true);
  }
};

class NetworkImpl : public torch::nn::Module {
 public:
  explicit NetworkImpl(const Sizes& sizes)
      : conv1_(torch::nn::Conv2dOptions(3, sizes.channels, 3).padding(1)),
        conv2_(torch::nn::Conv2dOptions(sizes.channels, sizes.channels, 3).padding(1)),
        norm_(sizes.channels),
        embedding_(100, sizes.width),
        image_head_(sizes.channels, kClasses),
        text_head_(sizes.width, kClasses) {
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("norm", norm_);
    register_module("embedding", embedding_);
    register_module("image_head", image_head_);
    register_module("text_head", text_head_);
    for (int i = 0; i < kLayers; ++i) {
      layers_.emplace_back(sizes.width);
      Register(layers_.back(), std::to_string(i));
    }
  }

  Tensor forward(const Tensor& images, const Tensor& tokens) {
    Tensor x = torch::max_pool2d(torch::relu(norm_(conv1_(images))), 2);
    x = torch::relu(conv2_(x)).mean({2, 3});
    Tensor y = embedding_(tokens);
    for (Layer& layer : layers_) y = layer.Forward(y);
    return image_head_(x) + text_head_(y.mean(1));
  }

 private:
  void Register(const Layer& layer, const std::string& number) {
    register_module("query" + number, layer.query);
    register_module("key" + number, layer.key);
    register_module("value" + number, layer.value);
    register_module("output" + number, layer.output);
    register_module("up" + number, layer.up);
    register_module("down" + number, layer.down);
    register_module("first_norm" + number, layer.norm1);
    register_module("second_norm" + number, layer.norm2);
  }

  torch::nn::Conv2d conv1_, conv2_;
  torch::nn::BatchNorm2d norm_;
  torch::nn::Embedding embedding_;
  torch::nn::Linear image_head_, text_head_;
  std::vector<Layer> layers_;
};
TORCH_MODULE(Network);

int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

int main(int argc, char** argv) {
  const bool large = argc > 1 && std::strcmp(argv[1], "--large") == 0;
  const double seconds = argc > (large ? 2 : 1) ? std::atof(argv[large ? 2 : 1]) : 2;
  const Sizes sizes = large ? kLarge : kSmall;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  Network network(sizes);
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const Tensor images = torch::randn({sizes.batch, 3, sizes.image, sizes.image});
  const Tensor tokens = torch::randint(100, {sizes.batch, sizes.sequence}, torch::kInt64);
  const Tensor labels = torch::randint(kClasses, {sizes.batch}, torch::kInt64);

  constexpr int kWarmUp = 10;
  std::vector<int64_t> times;
  const int64_t end = Now() + static_cast<int64_t>(seconds * 1e9);
  for (int i = 0; i < kWarmUp + 1 || Now() < end; ++i) {
    const int64_t start = Now();
    const Tensor loss = torch::cross_entropy_loss(network(images, tokens), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (i >= kWarmUp) times.push_back(Now() - start);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("%lld\n", static_cast<long long>(*middle));
}
