#ifndef OPLENS_PROF_SCHEMAS_H_
#define OPLENS_PROF_SCHEMAS_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// What `prof --schema NAME` prints: the JSON Schema of a line of --json, of the tables of fields
/// that print it. `name`: kernels, copies, summary (--by), a view, diff or gate. Throws UsageError
/// for others.
std::string SchemaText(std::string_view name);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SCHEMAS_H_
