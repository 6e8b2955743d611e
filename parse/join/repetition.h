#ifndef OPLENS_PARSE_JOIN_REPETITION_H_
#define OPLENS_PARSE_JOIN_REPETITION_H_

#include <vector>

#include "parse/join/inference.h"
#include "parse/join/place_keys.h"
#include "parse/join/place_model.h"

namespace oplens::parse {

/// Returns one lane per stream of a trace: its timed kernels, by device, context and stream.
std::vector<Lane> LanesOf(const Joined& joined, PlaceKeys* keys);

/// Splits a lane into steps: one segment per step that launched something there, including kernels
/// of unknown step within; and one for what is between two steps and cannot belong to the first.
std::vector<Segment> StepsOf(const Lane& lane);

/// Returns the key parts that kernels [begin, end) of a lane have: kName if an HasNoRecordedOp one
/// has no extent, else kLaunch.
KeyParts PartsOf(const Lane& lane, size_t begin, size_t end);

/// Adds the ops found by repetitions of the steps of a file, unordered.
void InferFromRepetition(const std::vector<Lane>& lanes, std::vector<Inferred>* found);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_REPETITION_H_
