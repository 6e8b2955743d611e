#ifndef OPLENS_PROF_GATE_AMOUNT_H_
#define OPLENS_PROF_GATE_AMOUNT_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// A figure for a reader: 1234567 "ns" is "1.235 ms", 3145728 "B" is "3.000 MiB", 12.5 "%" is
/// "12.5 %". Numbers of other units as they are, with at most three decimals.
std::string AmountText(double value, std::string_view unit);
/// The same of a change, with its sign.
std::string ChangeText(double value, std::string_view unit);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_AMOUNT_H_
