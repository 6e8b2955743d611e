#include "prof/views/kernels/kind_key.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include "parse/model/dim3.h"
#include "parse/model/reason.h"
#include "prof/table/cell.h"
#include "prof/views/common/repetition.h"

namespace oplens::prof {
namespace {

/// Appends a value: values of one type are equal if their bytes are.
struct KindKeyTo {
  std::string* bytes;

  template <typename Number>
  void AddNumber(Number number) const {
    bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { AddNumber(value); }
  void operator()(double value) const { AddNumber(value); }
  void operator()(std::string_view text) const {
    AddNumber(text.size());
    bytes->append(text);
  }
  void operator()(std::span<const int64_t> values) const {
    AddNumber(values.size());
    for (const int64_t value : values) AddNumber(value);
  }
  void operator()(const Cell::Texts& list) const {
    AddNumber(list.texts.size());
    for (const std::string_view text : list.texts) (*this)(text);
    AddNumber(list.more);
  }
  void operator()(const Dim3& extent) const {
    for (const int64_t one : {extent.x, extent.y, extent.z}) AddNumber(one);
  }
  void operator()(ReasonSet reasons) const {
    size_t count = 0;
    reasons.ForEach([&](Reason reason) {
      AddNumber(reason);
      ++count;
    });
    AddNumber(count);
  }
};

}  // namespace

bool KindKey::IsOfSteps(const Column<PricedKernel>& key) {
  return key.key == "step" || key.key == "range";
}

void KindKey::TellApartBy(const Columns<PricedKernel>& keys) {
  for (const Column<PricedKernel>* const key : keys) {
    Columns<PricedKernel>& columns = IsOfSteps(*key) ? of_steps_ : columns_;
    if (std::ranges::find(columns, key) == columns.end()) columns.push_back(key);
  }
}

void KindKey::Append(const Columns<PricedKernel>& columns, const PricedKernel& kernel) {
  for (const Column<PricedKernel>* const column : columns) {
    const Cell cell = column->get(kernel);
    bytes_.push_back(static_cast<char>(cell.value.index()));
    std::visit(KindKeyTo{&bytes_}, cell.value);
  }
}

std::string_view KindKey::Of(const PricedKernel& kernel) {
  bytes_.clear();
  Append(columns_, kernel);
  // Their groups are those of a repetition, which is found by kinds.
  if (!kernel.record->step) Append(of_steps_, kernel);
  KindKeyTo{&bytes_}.AddNumber(RepetitionFinder::WhatOf(*kernel.record));
  return bytes_;
}

}  // namespace oplens::prof
