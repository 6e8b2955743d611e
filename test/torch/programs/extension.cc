// libprograms_extension.so: an operator of the user, in C++, with a derivative.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd.h>
#include <torch/library.h>

namespace {

at::Tensor Weighted(const at::Tensor& x, const at::Tensor& weight, double factor) {
  return at::mul(at::mul(x, weight), factor);
}

class WeightedFunction : public torch::autograd::Function<WeightedFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight, double factor) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({weight});
    context->saved_data["factor"] = factor;
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("oplens_extension::weighted", "")
                               .typed<decltype(Weighted)>();
    return op.call(x, weight, factor);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {Weighted(gradients[0], saved[0], context->saved_data["factor"].toDouble()),
            at::Tensor(), at::Tensor()};
  }
};

at::Tensor WeightedWithGradient(const at::Tensor& x, const at::Tensor& weight, double factor) {
  return WeightedFunction::apply(x, weight, factor);
}

}  // namespace

TORCH_LIBRARY(oplens_extension, library) {
  library.def("weighted(Tensor x, Tensor weight, float factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(oplens_extension, CPU, library) { library.impl("weighted", Weighted); }

TORCH_LIBRARY_IMPL(oplens_extension, Autograd, library) {
  library.impl("weighted", WeightedWithGradient);
}
