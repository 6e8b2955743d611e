#ifndef OPLENS_PROF_TABLE_ARROW_ABI_H_
#define OPLENS_PROF_TABLE_ARROW_ABI_H_

#include <cstdint>

/// The structs of the Arrow C data and stream interfaces
/// (https://arrow.apache.org/docs/format/CDataInterface.html). Their layout is an ABI: not a member
/// may be moved.
extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace oplens::prof {

inline constexpr int64_t kArrowNullable = 2;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ARROW_ABI_H_
