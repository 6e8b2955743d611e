/* The C interface from C: what the header says compiles, and what oplens_annotate.h shows runs. */

#include "nvtx_annotate/oplens_annotate.h"

#include <stddef.h>

/* The layout is part of the ABI. */
typedef char size_of_arg_is_fixed[sizeof(oplens_arg) == 32 ? 1 : -1];
typedef char kind_is_at_8[offsetof(oplens_arg, kind) == 8 ? 1 : -1];
typedef char count_is_at_16[offsetof(oplens_arg, count) == 16 ? 1 : -1];
typedef char value_is_at_24[offsetof(oplens_arg, value) == 24 ? 1 : -1];
typedef char size_of_link_is_fixed[sizeof(oplens_link) == 16 ? 1 : -1];
typedef char size_of_plan_is_fixed[sizeof(oplens_schedule_plan) == 48 ? 1 : -1];
typedef char active_is_at_16[offsetof(oplens_schedule_plan, active) == 16 ? 1 : -1];
typedef char skip_first_wait_is_at_40[offsetof(oplens_schedule_plan, skip_first_wait) == 40 ? 1
                                                                                            : -1];

void oplens_test_emit_from_c(void);
int64_t oplens_test_schedule_from_c(void);

static void AddCycle(int64_t cycle, void* sum) { *(int64_t*)sum += cycle; }

/* 0 where two cycles are completed, whose numbers follow each other. */
int64_t oplens_test_schedule_from_c(void) {
  oplens_schedule_plan plan = {0};
  oplens_schedule* schedule;
  int64_t sum = 0, step;
  plan.wait = 1;
  plan.active = 1;
  plan.repeat = 2;
  schedule = oplens_schedule_new(&plan, AddCycle, &sum);
  oplens_schedule_start(schedule);
  for (step = 0; step < 10; ++step) oplens_schedule_step(schedule);
  sum -= 2 * oplens_schedule_cycle(schedule) - 1;
  if (oplens_schedule_step_number(schedule) != 10) sum = -1;
  oplens_schedule_delete(schedule);
  return sum;
}

void oplens_test_emit_from_c(void) {
  oplens_arg args[2] = {{0}};
  int64_t a[2] = {64, 128}, b[2] = {128, 32};
  const char* frames[2] = {"main.c:1", "net.c:2"};
  oplens_link link;
  uint64_t step, phase, layer, trace, op, node;
  args[0].kind = args[1].kind = OPLENS_TENSOR;
  args[0].dtype = args[1].dtype = OPLENS_FLOAT32;
  args[0].count = args[1].count = 2;
  args[0].value.ints = a;
  args[1].value.ints = b;
  args[1].name = "mat2";

  step = oplens_iteration_begin(3);
  phase = oplens_phase_begin(OPLENS_FORWARD);
  layer = oplens_layer_begin("net");
  trace = oplens_trace_begin(frames, 2);
  op = oplens_op_begin("torch", "mm", args, 2);
  oplens_end(op);
  op = oplens_forward_begin("torch", "mm", args, 2, &link);
  oplens_end(op);
  oplens_end(trace);
  oplens_end(layer);
  oplens_end(phase);
  node = oplens_backward_begin("MmBackward0", link);
  oplens_end(node);
  oplens_end(step);
}
