#ifndef OPLENS_OPLENS_RANK_TIMES_H_
#define OPLENS_OPLENS_RANK_TIMES_H_

#include "oplens/screen.h"
#include "prof/table/kept_rows.h"

namespace oplens::screen {

/// Sets the times of several ranks, and which of them is shown, from the rows `mean` of the views
/// `distributed` and `overview`.
void FillRankTimes(const prof::KeptRows& distributed, const prof::KeptRows& overview,
                   Screen* screen);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_RANK_TIMES_H_
