#ifndef OPLENS_PROF_ADVICE_EVIDENCE_H_
#define OPLENS_PROF_ADVICE_EVIDENCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "prof/advice/facts.h"

namespace oplens::prof::advice {

inline constexpr size_t kMostEvidence = 5;

/// part / whole; 0 if whole is 0.
double ShareOf(int64_t part, int64_t whole);
/// Of the time of all GPUs of a rank (RankFacts::capacity_ns): for times of kernels.
double ShareOfTime(const RankFacts& rank, int64_t kernels_ns);
/// "12.3" for 0.123.
std::string Percent(double share);
/// "1.234 ms", "12.3 us", "0.456 s".
std::string TimeText(double ns);
/// "1.50 GiB".
std::string BytesText(int64_t bytes);
/// The places of a topic, largest gain first: "addmm M=64,N=800,fp16: 96 x, 1.234 ms, at most 0.500
/// ms less"; the rest as one item.
std::vector<std::string> EvidenceOf(const TopicFacts& topic);

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_ADVICE_EVIDENCE_H_
