#ifndef OPLENS_TEST_OPS_CASES_H_
#define OPLENS_TEST_OPS_CASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/op_call.h"

namespace oplens::ops::test {

/// Builds a call from a compact notation: `op` is "F.NAME" (torch.nn.functional), "torch.NAME",
/// "Tensor.NAME" or a plain name; `args` are separated by blanks:
/// [2,3]fp32 (a tensor, "[]fp32" without dimensions), 3, 0.5, True, None, 'text', (1,2) or [1,2],
/// (1.0,2.5), ? (an argument of a kind that is not kept), ?Scalar (of that type); each may be a
/// keyword: dim=1. 2:[2,3]fp32 is a member of the second list of tensors.
OpCall MakeCall(std::string_view op, std::string_view args);

struct Figures {
  int64_t mma = 0;
  int64_t vec = 0;
  int64_t bytes = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};
std::ostream& operator<<(std::ostream& out, const Figures& figures);

/// The figures of a work; nullopt when one overflowed.
std::optional<Figures> FiguresOf(const Work& work);

struct Gradient {
  Part part;
  Figures figures;
};

/// One row of a table: a call and its price, or the reason why it has none.
struct Case {
  std::string op;
  std::string args;
  std::string params;
  Figures forward;
  std::vector<Gradient> backward;
  std::optional<Reason> reason;

  Case(std::string op_name, std::string arguments, std::string printed, Figures forward_figures,
       std::vector<Gradient> gradients)
      : op(std::move(op_name)),
        args(std::move(arguments)),
        params(std::move(printed)),
        forward(forward_figures),
        backward(std::move(gradients)) {}
  Case(std::string op_name, std::string arguments, Reason why)
      : op(std::move(op_name)), args(std::move(arguments)), reason(why) {}
};

/// Prices every row and compares.
void CheckCases(const std::vector<Case>& cases);

/// Shorthands for the tables.
inline Gradient Dgrad(Figures figures) { return {Part::kDgrad, figures}; }
inline Gradient Wgrad(Figures figures) { return {Part::kWgrad, figures}; }
inline Gradient Bgrad(Figures figures) { return {Part::kBgrad, figures}; }
inline Gradient Back(Figures figures) { return {Part::kBackward, figures}; }

}  // namespace oplens::ops::test

#endif  // OPLENS_TEST_OPS_CASES_H_
