#ifndef OPLENS_PROF_RUN_RUN_H_
#define OPLENS_PROF_RUN_RUN_H_

#include <optional>
#include <string_view>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/model/kernel_names.h"
#include "parse/records/kernel_records.h"
#include "prof/run/device_work.h"
#include "prof/run/steps.h"

namespace oplens::prof {

/// One rank's profile as the views see it: the trace, the join, and what several views compute of
/// them, made when it is first asked for.
class Run {
 public:
  /// `records` must outlive this object.
  explicit Run(const parse::KernelRecords& records) : records_(records) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const parse::Joined& joined() const { return records_.joined(); }
  const Trace& trace() const { return joined().trace(); }
  const KernelNames& names() const { return records_.names(); }
  /// "" where there is one rank only, or it is not known.
  std::string_view rank() const { return trace().strings.View(trace().rank_name); }

  const DeviceWork& work() const;
  const Steps& steps() const;
  const parse::CallTree& calls() const;

 private:
  const parse::KernelRecords& records_;
  mutable std::optional<DeviceWork> work_;
  mutable std::optional<Steps> steps_;
  mutable std::optional<parse::CallTree> calls_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_RUN_H_
