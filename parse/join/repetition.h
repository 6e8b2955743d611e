#ifndef OPLENS_PARSE_JOIN_REPETITION_H_
#define OPLENS_PARSE_JOIN_REPETITION_H_

#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_keys.h"
#include "parse/join/place_model.h"

namespace oplens::parse {

/// The lanes of the streams of a trace: the kernels that have a time, by device, context and
/// stream.
std::vector<Lane> LanesOf(const Joined& joined, PlaceKeys* keys);

/// A lane in steps: one segment for each step that launched something there, with the untold
/// kernels within; and one for what is between two steps and cannot belong to the one before.
std::vector<Segment> StepsOf(const Lane& lane);

/// What of kernels both sides tell: the name alone where some of `lanes` have no extent.
KeyParts PartsOf(const Lane& lane, size_t begin, size_t end);

/// Adds the ops that repetitions of the steps of a file tell, unordered.
void InferFromRepetition(const std::vector<Lane>& lanes, std::vector<Inferred>* found);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_REPETITION_H_
