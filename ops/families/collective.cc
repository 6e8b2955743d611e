// Collective communication: bytes are what a rank sends over the wire, as the bus factors of
// nccl-tests have it; FLOPs are the additions of a rank.

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// What crosses the wire, of a buffer of S bytes among n ranks.
enum class Wire : uint8_t {
  kTwice,  // 2 (n-1)/n S
  kOnce,   // (n-1)/n S
  kWhole,  // S
};

// Which tensors of the call make the whole buffer.
enum class Buffer : uint8_t {
  kAll,        // All there are: a list is one message a member. Of (input, output), neither a list,
               // one: both are as large.
  kGathered,   // Of two arguments (output, input) the output; the input is a rank's part of it.
  kScattered,  // Of (output, input) the input; the output is a rank's part of it.
  kSent,       // Of (output, input) the input; both are as large.
  kPart,       // One tensor is a rank's part; two as kGathered.
};

struct Collective {
  std::string_view name;
  Wire wire;
  Buffer buffer;
  bool reduces = false;
  bool positional_size = false;  // The first positional integer is the number of ranks.
};

constexpr Collective kCollectives[] = {
    {"all_reduce", Wire::kTwice, Buffer::kAll, true},
    {"allreduce", Wire::kTwice, Buffer::kAll, true},
    {"all_reduce_coalesced", Wire::kTwice, Buffer::kAll, true},
    {"allreduce_coalesced", Wire::kTwice, Buffer::kAll, true},
    {"multimem_all_reduce", Wire::kTwice, Buffer::kAll, true},
    {"multimem_one_shot_all_reduce", Wire::kTwice, Buffer::kAll, true},
    {"one_shot_all_reduce", Wire::kTwice, Buffer::kAll, true},
    {"two_shot_all_reduce", Wire::kTwice, Buffer::kAll, true},
    {"reduce_scatter", Wire::kOnce, Buffer::kScattered, true},
    {"_reduce_scatter_base", Wire::kOnce, Buffer::kScattered, true},
    {"reduce_scatter_tensor", Wire::kOnce, Buffer::kScattered, true, true},
    {"reduce_scatter_tensor_coalesced", Wire::kOnce, Buffer::kScattered, true, true},
    {"all_gather", Wire::kOnce, Buffer::kGathered},
    {"allgather", Wire::kOnce, Buffer::kPart},
    {"_allgather_base", Wire::kOnce, Buffer::kPart},
    {"_all_gather_base", Wire::kOnce, Buffer::kPart},
    {"all_gather_into_tensor", Wire::kOnce, Buffer::kPart, false, true},
    {"all_gather_into_tensor_coalesced", Wire::kOnce, Buffer::kPart, false, true},
    {"allgather_into_tensor_coalesced", Wire::kOnce, Buffer::kPart},
    {"all_to_all", Wire::kOnce, Buffer::kSent},
    {"alltoall", Wire::kOnce, Buffer::kSent},
    {"alltoall_base", Wire::kOnce, Buffer::kSent},
    {"all_to_all_single", Wire::kOnce, Buffer::kSent},
    {"broadcast", Wire::kWhole, Buffer::kAll},
    {"reduce", Wire::kWhole, Buffer::kAll, true},
    {"send", Wire::kWhole, Buffer::kAll},
    {"recv", Wire::kWhole, Buffer::kAll},
    {"isend", Wire::kWhole, Buffer::kAll},
    {"irecv", Wire::kWhole, Buffer::kAll},
    {"recv_any_source", Wire::kWhole, Buffer::kAll},
};

// The tensors of a call, argument by argument, and the number of ranks.
struct Message {
  std::vector<ListArg> tensors;
  std::optional<int64_t> ranks;
};

bool NamesRanks(std::string_view keyword) {
  return keyword == "world_size" || keyword == "group_size" || keyword == "nranks" ||
         keyword == "n";
}

// False when the number of ranks is none.
bool TakeRanks(const OpArg& arg, Message* message) {
  if (arg.kind != OpArg::Kind::kInt || arg.int_value < 1) return false;
  if (message->ranks && *message->ranks != arg.int_value) return false;
  message->ranks = arg.int_value;
  return true;
}

std::optional<Message> ReadMessage(const Collective& collective, const OpCall& call) {
  const std::optional<std::vector<ListArg>> groups = GroupLists(call);
  if (!groups) return std::nullopt;
  Message message;
  bool position = collective.positional_size;
  for (const ListArg& group : *groups) {
    const OpArg& first = group.value();
    if (first.kind == OpArg::Kind::kTensor) {
      message.tensors.push_back(group);
      continue;
    }
    const bool named = NamesRanks(group.name);
    const bool placed = position && group.name.empty() && first.kind == OpArg::Kind::kInt;
    if (!named && !placed) continue;
    if (placed) position = false;
    if (!TakeRanks(first, &message)) return std::nullopt;
  }
  return message;
}

struct Size {
  Checked elements;
  Checked bytes;
};

std::optional<Size> SizeOf(const ListArg& tensors, Reason* reason) {
  Size size;
  for (const OpArg& arg : tensors.members) {
    const std::optional<Tensor> tensor = TensorOf(arg, reason);
    if (!tensor) return std::nullopt;
    size.elements += tensor->elements();
    size.bytes += tensor->bytes();
  }
  return size;
}

std::optional<std::vector<Size>> CollectiveSizesOf(const Message& message, Reason* reason) {
  std::vector<Size> sizes;
  for (const ListArg& tensors : message.tensors) {
    const std::optional<Size> size = SizeOf(tensors, reason);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

Size CollectiveSum(const std::vector<Size>& sizes) {
  Size sum;
  for (const Size& size : sizes) {
    sum.elements += size.elements;
    sum.bytes += size.bytes;
  }
  return sum;
}

// The number of ranks is the whole over the part, unless the call says another one.
bool FitParts(const Size& whole, const Size& part, std::optional<int64_t>* ranks) {
  const std::optional<int64_t> elements = whole.elements.Value();
  const std::optional<int64_t> share = part.elements.Value();
  if (!elements || !share) return false;
  if (*share == 0) return *elements == 0;
  if (*elements % *share != 0) return false;
  const int64_t count = *elements / *share;
  if (count == 0 || ranks->value_or(count) != count) return false;
  *ranks = count;
  return true;
}

// A list has a tensor for each rank.
bool FitList(const ListArg& list, std::optional<int64_t>* ranks) {
  if (!list.is_list || list.members.size() < 2) return true;
  const auto count = static_cast<int64_t>(list.members.size());
  if (ranks->value_or(count) != count) return false;
  *ranks = count;
  return true;
}

// The whole buffer of the collective. Sets the number of ranks where the tensors tell it.
std::optional<Size> WholeOf(const Collective& collective, const Message& message,
                            const std::vector<Size>& sizes, std::optional<int64_t>* ranks,
                            Reason* reason) {
  *reason = Reason::kUnsupportedArgs;
  if (sizes.empty()) return std::nullopt;
  if (collective.buffer == Buffer::kAll) {
    // Custom all-reduces write another tensor.
    const bool apart = sizes.size() == 2 && !message.tensors[0].is_list &&
                       !message.tensors[1].is_list && !collective.name.ends_with("coalesced") &&
                       sizes[0].elements == *sizes[1].elements.Value();
    return apart ? sizes[0] : CollectiveSum(sizes);
  }
  if (sizes.size() > 2) return std::nullopt;
  const Size& output = sizes.front();
  const Size& input = sizes.back();
  if (sizes.size() == 1 && collective.buffer == Buffer::kPart) {
    if (!*ranks) return std::nullopt;
    return Size{output.elements * **ranks, output.bytes * **ranks};
  }
  if (collective.buffer == Buffer::kSent) {
    *reason = Reason::kShapeMismatch;
    return FitList(message.tensors.back(), ranks) ? std::optional(input) : std::nullopt;
  }
  if (sizes.size() == 1) return output;
  const bool scattered = collective.buffer == Buffer::kScattered;
  const Size& whole = scattered ? input : output;
  *reason = Reason::kShapeMismatch;
  if (!FitParts(whole, scattered ? output : input, ranks)) return std::nullopt;
  return whole;
}

// (n-1)/n of a number, of what does not divide the whole part.
Checked Others(Checked number, int64_t ranks) { return number * (Checked(ranks) - 1) / ranks; }

Checked WireBytes(Wire wire, Checked bytes, int64_t ranks) {
  switch (wire) {
    case Wire::kTwice:
      return Others(bytes * 2, ranks);
    case Wire::kOnce:
      return Others(bytes, ranks);
    case Wire::kWhole:
      break;
  }
  return bytes;
}

std::string CollectiveParamsOf(const Message& message, const Size& whole,
                               std::optional<int64_t> ranks) {
  const DType type = ParseDType(message.tensors.front().value().dtype).value_or(DType::kUnknown);
  std::string text =
      fmt::format("N={},{}", whole.elements.Value().value_or(INT64_MAX), DTypeWord(type));
  if (ranks) text += fmt::format(",ranks={}", *ranks);
  return text;
}

PriceResult PriceCollective(std::string_view op, const OpCall& call) {
  const Collective& collective = *FindRow(kCollectives, op);
  const std::optional<Message> message = ReadMessage(collective, call);
  if (!message) return Unpriced(Reason::kUnsupportedArgs);
  Reason reason;
  const std::optional<std::vector<Size>> sizes = CollectiveSizesOf(*message, &reason);
  if (!sizes) return Unpriced(reason);
  std::optional<int64_t> ranks = message->ranks;
  const std::optional<Size> whole = WholeOf(collective, *message, *sizes, &ranks, &reason);
  if (!whole) return Unpriced(reason);
  // Without additions, what is sent whole is the same among any number.
  const bool needs_ranks = collective.wire != Wire::kWhole || collective.reduces;
  if (needs_ranks && !ranks) return Unpriced(Reason::kUnsupportedArgs);
  const Checked bytes = WireBytes(collective.wire, whole->bytes, ranks.value_or(1));
  const Checked additions = collective.reduces ? Others(whole->elements, *ranks) : 0;
  PriceResult result = Priced(CollectiveParamsOf(*message, *whole, ranks), {0, additions, bytes},
                              std::vector<PartWork>());
  result.price->op_class = OpClass::kCollective;
  result.price->vec_estimated = false;
  return result;
}

constexpr auto kCollectiveNames = NamesOf(kCollectives);
constexpr OpModel kCollectiveModels[] = {{kCollectiveNames, PriceCollective}};

}  // namespace

std::span<const OpModel> CollectiveOps() { return kCollectiveModels; }

}  // namespace oplens::ops
