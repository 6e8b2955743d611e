#ifndef OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_
#define OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_

#include <cupti.h>

namespace oplens::record::inject {

// The functions of CUPTI that are used; each is looked up by name. Some came later than the oldest
// CUPTI that will do, and may be null.
#define OPLENS_CUPTI_FUNCTIONS(X)      \
  X(cuptiGetVersion)                   \
  X(cuptiGetResultString)              \
  X(cuptiGetTimestamp)                 \
  X(cuptiSubscribe)                    \
  X(cuptiEnableCallback)               \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiActivityFlushAll)
#define OPLENS_CUPTI_LATER_FUNCTIONS(X)     \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivitySetAttribute)              \
  X(cuptiGetGraphId)                        \
  X(cuptiGetGraphNodeId)

/// CUPTI, loaded at run time: the program may have another version than this was built with, or
/// none.
struct CuptiLibrary {
#define OPLENS_MEMBER(name) decltype(&::name) name = nullptr;
  OPLENS_CUPTI_FUNCTIONS(OPLENS_MEMBER)
  OPLENS_CUPTI_LATER_FUNCTIONS(OPLENS_MEMBER)
#undef OPLENS_MEMBER

  /// Finds CUPTI: the one that OPLENS_CUPTI names, else the one that the program has loaded, else
  /// the newest that is installed. Null: all is well; else what is missing.
  const char* Load() noexcept;

  /// CUPTI's words for a result.
  const char* Words(CUptiResult result) const noexcept;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_
