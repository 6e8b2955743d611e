#ifndef OPLENS_PROF_VIEWS_STRAGGLER_BYTES_H_
#define OPLENS_PROF_VIEWS_STRAGGLER_BYTES_H_

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/run/text_numbers.h"
#include "prof/views/straggler_work.h"

namespace oplens::prof {

// The bytes of what ranks computed: docs/summary_format.md, "stragglers". What is read throws Error
// where it is not such.

void SaveWork(const StragglerWork& work, const TextNumbers& texts, ByteWriter* bytes);
/// Into one that is empty.
void LoadWork(TextNumbers* texts, ByteReader* bytes, StragglerWork* work);
/// The texts of an op and its layer.
WorkPlace LoadPlace(TextNumbers* texts, ByteReader* bytes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STRAGGLER_BYTES_H_
