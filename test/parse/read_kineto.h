#ifndef OPLENS_TEST_PARSE_READ_KINETO_H_
#define OPLENS_TEST_PARSE_READ_KINETO_H_

#include <string>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::test {

/// Hands a document that is well formed to a KinetoReader, without the splitter in between.
Trace ReadKineto(const std::string& text, TraceNeeds needs, Diagnostics* diagnostics);

}  // namespace oplens::test

#endif  // OPLENS_TEST_PARSE_READ_KINETO_H_
