#ifndef OPLENS_PROF_VIEWS_COMMON_SAVED_PARTIAL_H_
#define OPLENS_PROF_VIEWS_COMMON_SAVED_PARTIAL_H_

#include "base/byte_map.h"
#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/views/common/view.h"

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

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_SAVED_PARTIAL_H_
