#ifndef OPLENS_PROF_VIEWS_SAVED_PARTIAL_H_
#define OPLENS_PROF_VIEWS_SAVED_PARTIAL_H_

#include <cstddef>
#include <utility>

#include "base/byte_map.h"
#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// A partial that saves all that its Transfer names (base/byte_writer.h). `Own` derives from it.
template <typename Own>
class SavedPartial : public Partial {
 public:
  void Save(ByteWriter* bytes) const override {
    Own::Transfer(bytes, static_cast<const Own*>(this));
  }
  void Load(ByteReader* bytes) override { Own::Transfer(bytes, static_cast<Own*>(this)); }
};

/// Points of a series, which ascend.
template <typename Bytes, typename Points>
void TransferPoints(Bytes* bytes, Points* points) {
  if constexpr (Bytes::kReads) {
    points->resize(bytes->Size(2));
  } else {
    bytes->Number(points->size());
  }
  typename Points::value_type before;
  for (auto& point : *points) {
    bytes->Near(&point.time_ns, before.time_ns);
    bytes->Near(&point.value, before.value);
    if constexpr (Bytes::kReads) {
      bytes->Check(&point == points->data() || !(point < before), "points do not ascend");
    }
    before = point;
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SAVED_PARTIAL_H_
