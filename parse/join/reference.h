#ifndef OPLENS_PARSE_JOIN_REFERENCE_H_
#define OPLENS_PARSE_JOIN_REFERENCE_H_

#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_model.h"

namespace oplens::parse {

/// Adds the ops that another recording of the program tells of the untold kernels of `lanes`,
/// unordered.
void InferFromReference(const std::vector<Lane>& lanes, const Joined& reference,
                        std::vector<Inferred>* found);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_REFERENCE_H_
