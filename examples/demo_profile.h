#ifndef OPLENS_EXAMPLES_DEMO_PROFILE_H_
#define OPLENS_EXAMPLES_DEMO_PROFILE_H_

#include "test/support/nvprof_builder.h"

namespace oplens::examples {

/// A made-up profile of two training steps of a one-block language model on a V100 in mixed
/// precision, with PyProf's annotations: what a recorded one would hold, with invented times. It
/// also shows what goes wrong in real profiles: a kernel whose launch was lost and a range that was
/// never closed.
test::NvprofBuilder DemoProfile();

/// How DemoProfile() is written: small pages, so that the 50 mostly empty tables take little space.
test::NvprofOptions DemoOptions();

}  // namespace oplens::examples

#endif  // OPLENS_EXAMPLES_DEMO_PROFILE_H_
