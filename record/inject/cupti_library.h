#ifndef OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_
#define OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_

#include <cupti.h>

namespace oplens::record::inject {

// The CUPTI functions in use, looked up by name. Those missing in the oldest supported CUPTI may be
// null.
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

/// CUPTI, loaded at run time: the program may use another version than the one at build time, or
/// none.
struct CuptiLibrary {
#define OPLENS_MEMBER(name) decltype(&::name) name = nullptr;
  OPLENS_CUPTI_FUNCTIONS(OPLENS_MEMBER)
  OPLENS_CUPTI_LATER_FUNCTIONS(OPLENS_MEMBER)
#undef OPLENS_MEMBER

  /// Finds CUPTI: the one named by OPLENS_CUPTI, else the one the program has loaded, else the
  /// newest installed one. Returns null on success, otherwise what is missing.
  const char* Load() noexcept;

  /// CUPTI's text for a result.
  const char* Words(CUptiResult result) const noexcept;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CUPTI_LIBRARY_H_
