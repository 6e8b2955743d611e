#include "test/parse/read_kineto.h"

#include <simdjson.h>

#include "parse/readers/kineto/kineto_reader.h"

namespace oplens::test {

Trace ReadKineto(const std::string& text, TraceNeeds needs, Diagnostics* diagnostics) {
  simdjson::dom::parser parser;
  simdjson::dom::element document = parser.parse(text);
  parse::KinetoReader reader("trace.json", needs, diagnostics);
  simdjson::dom::array events;
  simdjson::dom::object members;
  if (document.get(members) == simdjson::SUCCESS) {
    for (const simdjson::dom::key_value_pair member : members) {
      if (member.key == "traceEvents") {
        events = member.value;
      } else {
        reader.OnMember(member.key, member.value);
      }
    }
  } else {
    events = document;
  }
  for (const simdjson::dom::element event : events) reader.OnEvent(event);
  return reader.Finish();
}

}  // namespace oplens::test
