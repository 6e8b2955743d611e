#include "parse/join/place_keys.h"

#include <functional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "parse/join/collectives.h"
#include "parse/join/for_each_op.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/model/demangle.h"

namespace oplens::parse {
namespace {

uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }

/// Never 0, which means none.
uint64_t Closed(uint64_t hash) { return hash == 0 ? 1 : hash; }

}  // namespace

uint64_t PlaceKeys::OfText(StringId text) {
  if (text >= names_.size()) names_.resize(trace_.strings.size(), 0);
  uint64_t& hash = names_[text];
  if (hash == 0) {
    // Some recordings have mangled names of kernels, others demangled ones.
    const std::string_view whole = trace_.strings.View(text);
    const uint64_t of_text = whole.starts_with("_Z") ? std::hash<std::string>()(Demangle(whole))
                                                     : std::hash<std::string_view>()(whole);
    hash = Closed(MixHash(1, of_text));
  }
  return hash;
}

uint64_t PlaceKeys::Of(const Kernel& kernel, KeyParts parts) {
  uint64_t hash = OfText(kernel.name);
  if (parts == KeyParts::kName) return hash;
  const KernelShape& shape = trace_.ShapeOf(kernel);
  for (const int32_t extent : shape.grid) hash = MixHash(hash, Bits(extent));
  for (const int32_t extent : shape.block) hash = MixHash(hash, Bits(extent));
  if (parts == KeyParts::kExtent) return hash;
  hash = MixHash(hash, Bits(shape.registers_per_thread));
  hash = MixHash(hash, Bits(shape.static_shared_memory_bytes));
  hash = MixHash(hash, Bits(shape.dynamic_shared_memory_bytes));
  return MixHash(hash, Bits(trace_.DetailsOf(kernel).shared_memory_bytes));
}

KnownOp KnownOpOf(const Joined& joined, size_t kernel, PlaceKeys* keys) {
  KnownOp told;
  const Trace& trace = joined.trace();
  const auto add = [keys](StringId text, uint64_t* hash) {
    *hash = Closed(MixHash(*hash, keys->OfText(text)));
  };
  if (const auto* call = joined.collectives().Of(trace, kernel)) {
    add(call->text, &told.op);
  }
  const Surroundings* around = joined.SurroundingsOf(static_cast<WorkIndex>(kernel));
  if (around == nullptr) return told;
  const auto add_calls = [&](const Surroundings& place) {
    for (const uint32_t range : joined.RangesOf(place, Around::kOps)) {
      add(joined.calls().CallOf(range), &told.op);
    }
  };
  const auto add_layers = [&](std::span<const uint32_t> layers) {
    for (const uint32_t range : layers) add(joined.LayerOf(range), &told.layer);
  };
  add_calls(*around);
  const bool names = !joined.RangesOf(*around, Around::kOps).empty() ||
                     !joined.RangesOf(*around, Around::kSequences).empty();
  if (names) ForEachOp(joined, *around, [&](StringId op, StringId) { add(op, &told.op); });
  add_layers(joined.LayersOf(*around));
  told.own = told.op;
  const uint32_t node = around->node().node;
  if (const Surroundings* forward = joined.SurroundingsOfForward(node)) {
    add_calls(*forward);
    add_layers(joined.LayersOfForward(node));
  }
  if (told.op == 0) return told;
  told.op = Closed(MixHash(told.op, static_cast<uint64_t>(around->phase)));
  return told;
}

}  // namespace oplens::parse
