#include "base/epochs.h"

#include <gtest/gtest.h>

#include <memory>

namespace oplens::epochs_test {
namespace {

// Something that is retired, and whether it is freed.
struct Thing {
  explicit Thing(bool* freed) : freed_(freed) {}
  ~Thing() { *freed_ = true; }
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
  bool* freed_;
};

TEST(EpochsTest, WithoutAPinWhatIsRetiredIsFreedAtOnce) {
  Epochs epochs;
  bool freed = false;
  epochs.Retire(std::make_unique<Thing>(&freed));
  EXPECT_TRUE(freed);
}

TEST(EpochsTest, AllPinsThatWereTakenBeforeKeepIt) {
  Epochs epochs;
  bool freed = false;
  Epochs::Pin first = epochs.Current();
  Epochs::Pin second = epochs.Current();
  epochs.Retire(std::make_unique<Thing>(&freed));
  first.reset();
  EXPECT_FALSE(freed);
  second.reset();
  EXPECT_TRUE(freed);
}

TEST(EpochsTest, APinThatIsTakenLaterDoesNotKeepIt) {
  Epochs epochs;
  bool freed = false;
  Epochs::Pin before = epochs.Current();
  epochs.Retire(std::make_unique<Thing>(&freed));
  const Epochs::Pin after = epochs.Current();
  before.reset();
  EXPECT_TRUE(freed);
}

TEST(EpochsTest, AnOldPinKeepsWhatIsRetiredInLaterEpochs) {
  Epochs epochs;
  bool freed[3] = {};
  Epochs::Pin pin = epochs.Current();
  for (bool& one : freed) {
    epochs.Retire(std::make_unique<Thing>(&one));
    EXPECT_FALSE(one);
  }
  pin.reset();
  for (const bool one : freed) EXPECT_TRUE(one);
}

TEST(EpochsTest, PinsMayOutliveTheEpochs) {
  Epochs::Pin pin;
  bool freed = false;
  {
    Epochs epochs;
    pin = epochs.Current();
    epochs.Retire(std::make_unique<Thing>(&freed));
  }
  EXPECT_FALSE(freed);
  pin.reset();
  EXPECT_TRUE(freed);
}

}  // namespace
}  // namespace oplens::epochs_test
