#include "prof/run/run.h"

namespace oplens::prof {

const DeviceWork& Run::work() const {
  if (!work_) work_.emplace(joined());
  return *work_;
}

const Steps& Run::steps() const {
  if (!steps_) steps_.emplace(joined(), work());
  return *steps_;
}

const parse::CallTree& Run::calls() const {
  if (!calls_) calls_.emplace(joined());
  return *calls_;
}

}  // namespace oplens::prof
