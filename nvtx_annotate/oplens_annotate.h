/* Annotates a program with NVTX ranges that carry ops, shapes, data types and sequence numbers: the
 * C interface, for C, C++, Fortran (iso_c_binding), Rust and ctypes.
 *
 *   oplens_arg args[2] = {{0}};
 *   int64_t a[2] = {64, 128}, b[2] = {128, 32};
 *   args[0].kind = args[1].kind = OPLENS_TENSOR;
 *   args[0].dtype = args[1].dtype = OPLENS_FLOAT32;
 *   args[0].count = args[1].count = 2;
 *   args[0].value.ints = a;
 *   args[1].value.ints = b;
 *   uint64_t op = oplens_op_begin("torch", "mm", args, 2);
 *   launch_the_gemm();
 *   oplens_end(op);
 *
 * Without a profiler that listens to NVTX a call does nothing but ask for that. No call fails,
 * throws, prints, or changes errno of the caller. All functions may be called from any thread; a
 * range belongs to the thread that began it. Texts are copied before a call returns. A null pointer
 * is an empty text, no arguments, or an undefined tensor.
 *
 * ABI: functions are only added, structures never change their layout; oplens_abi_version() counts
 * the additions. */
#ifndef OPLENS_NVTX_ANNOTATE_OPLENS_ANNOTATE_H_
#define OPLENS_NVTX_ANNOTATE_OPLENS_ANNOTATE_H_

/* Public header: installed, docs/library.md. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPLENS_ABI_VERSION 2

#if defined(__GNUC__)
#define OPLENS_API __attribute__((visibility("default")))
#else
#define OPLENS_API
#endif

/* Element types. The numbers are part of the ABI and of the binary payload. */
enum {
  OPLENS_DTYPE_UNKNOWN = 0,
  OPLENS_BOOL = 1,
  OPLENS_UINT8 = 2,
  OPLENS_INT8 = 3,
  OPLENS_UINT16 = 4,
  OPLENS_INT16 = 5,
  OPLENS_UINT32 = 6,
  OPLENS_INT32 = 7,
  OPLENS_UINT64 = 8,
  OPLENS_INT64 = 9,
  OPLENS_FLOAT16 = 10,
  OPLENS_BFLOAT16 = 11,
  OPLENS_FLOAT32 = 12,
  OPLENS_FLOAT64 = 13,
  OPLENS_COMPLEX32 = 14,
  OPLENS_COMPLEX64 = 15,
  OPLENS_COMPLEX128 = 16,
  OPLENS_FLOAT8_E4M3FN = 17,
  OPLENS_FLOAT8_E5M2 = 18,
  OPLENS_FLOAT8_E4M3FNUZ = 19,
  OPLENS_FLOAT8_E5M2FNUZ = 20,
  OPLENS_FLOAT8_E8M0FNU = 21,
  OPLENS_FLOAT4_E2M1FN_X2 = 22,
  OPLENS_QINT8 = 23,
  OPLENS_QUINT8 = 24,
  OPLENS_QINT32 = 25,
  OPLENS_QUINT4X2 = 26,
  OPLENS_QUINT2X4 = 27,
  OPLENS_INT4 = 28,
  OPLENS_UINT4 = 29
};

/* What an argument is, and which of its fields say so. */
enum {
  OPLENS_NONE = 0,       /* None: no value */
  OPLENS_TENSOR = 1,     /* dtype; count extents at value.ints, outermost first; 0: a 0-d tensor */
  OPLENS_INT = 2,        /* value.integer */
  OPLENS_FLOAT = 3,      /* value.number */
  OPLENS_BOOLEAN = 4,    /* value.integer, 0 or 1 */
  OPLENS_STRING = 5,     /* count bytes at value.text, UTF-8 */
  OPLENS_INT_LIST = 6,   /* count numbers at value.ints */
  OPLENS_INT_TUPLE = 7,  /* the same, printed as a tuple */
  OPLENS_FLOAT_LIST = 8, /* count numbers at value.numbers */
  OPLENS_BOOL_LIST = 9,  /* count bytes at value.bytes, 0 or 1 */
  OPLENS_COMPLEX = 10,   /* value.numbers: real and imaginary part */
  OPLENS_OTHER = 11      /* something else: count bytes at value.text name its type */
};

/* One argument of an op. Arguments without a name come first, as in a call of a Python function.
 * Set all bytes to 0 before filling one in. */
typedef struct oplens_arg {
  const char* name; /* keyword, zero-terminated; NULL: positional */
  uint16_t kind;    /* OPLENS_TENSOR, ... */
  uint16_t dtype;   /* OPLENS_FLOAT32, ... */
  uint16_t
      list; /* the n-th list of tensors of this call that it is a member of, from 1; 0: of none */
  uint16_t more; /* so many more members of its list follow that are alike */
  uint64_t count;
  union {
    int64_t integer;
    double number;
    const int64_t* ints;
    const double* numbers;
    const uint8_t* bytes;
    const char* text;
  } value;
} oplens_arg;

/* What ties a backward node to the op that made it. seq -1: nothing. */
typedef struct oplens_link {
  int64_t seq;
  uint64_t thread;
} oplens_link;

enum {
  OPLENS_FORWARD = 0,
  OPLENS_BACKWARD = 1,
  OPLENS_OPTIMIZER = 2,
  OPLENS_DATA = 3,
  OPLENS_COMMUNICATION = 4
};

OPLENS_API uint32_t oplens_abi_version(void);

/* 1 where a range would be seen by a profiler now. For callers for whom collecting arguments costs.
 */
OPLENS_API int oplens_enabled(void);

/* 1 where a profiler listens to NVTX, inside the capture window or not: where it is 0, no range of
 * this process will ever be seen. Since version 2. */
OPLENS_API int oplens_has_tool(void);

/* Begin and end the capture window: ranges are emitted in between (and from the beginning of the
 * program, unless OPLENS_ANNOTATE=off is in the environment). Both mark the moment in the domain
 * "oplens", and start or stop the CUDA profiler if the process has loaded the CUDA runtime or
 * driver. */
OPLENS_API void oplens_start(void);
OPLENS_API void oplens_stop(void);

/* Each begins a range and returns its token, 0 when nothing was begun. oplens_end() ends it, and
 * every range of this interface that was begun in it and not ended. A token that was ended already,
 * or that belongs to another thread, is ignored. */
OPLENS_API uint64_t oplens_op_begin(const char* mod, const char* op, const oplens_arg* args,
                                    uint64_t arg_count);
/* An op that a backward node will refer to: takes the thread's next sequence number. *link is
 * always written; link may be NULL. */
OPLENS_API uint64_t oplens_forward_begin(const char* mod, const char* op, const oplens_arg* args,
                                         uint64_t arg_count, oplens_link* link);
OPLENS_API uint64_t oplens_backward_begin(const char* node, oplens_link link);
OPLENS_API uint64_t
oplens_layer_begin(const char* name); /* a part of the layer around it, if there is one */
/* A layer by its whole path, whatever is around it. Since ABI 2. */
OPLENS_API uint64_t oplens_layer_path_begin(const char* path);
OPLENS_API uint64_t oplens_trace_begin(const char* const* frames,
                                       uint64_t count); /* "file:line", outermost first */
OPLENS_API uint64_t oplens_iteration_begin(int64_t number);
OPLENS_API uint64_t oplens_phase_begin(int phase); /* OPLENS_FORWARD, ... */
OPLENS_API uint64_t oplens_range_begin(const char* text);
OPLENS_API void oplens_end(uint64_t token);

/* One allocation of a framework's allocator, or with negative bytes its release: since version 2.
 * The totals are those of the device after it, -1: not known. device_type 0 is the host, 1 CUDA, as
 * PyTorch numbers them. Seen by recorders that know the payload (`record`), by no other tool. */
OPLENS_API void oplens_memory(uint64_t address, int64_t bytes, int64_t total_allocated,
                              int64_t total_reserved, int device_type, int device);

/* The capture schedule, as torch.profiler has it: since version 2. A program that calls
 * oplens_schedule_step() after each iteration is recorded in cycles: what lies in RECORD and
 * RECORD_AND_SAVE and nothing else. A cycle that is complete has a file of its own under `record`.
 * One schedule runs at a time, on one thread. */
enum {
  OPLENS_ACTION_NONE = 0,
  OPLENS_ACTION_WARMUP = 1, /* as RECORD, but nothing of it is kept */
  OPLENS_ACTION_RECORD = 2,
  OPLENS_ACTION_RECORD_AND_SAVE = 3, /* the last step of a cycle */
  OPLENS_ACTION_EXIT = 4             /* of oplens_schedule_transition: the schedule ends */
};

/* skip_first steps of nothing once, then cycles of wait, warmup and active steps; repeat of them,
 * 0: any number. skip_first_wait other than 0: the first cycle does not wait. Valid where none is
 * negative and active is above 0. Set all bytes to 0 before filling one in. */
typedef struct oplens_schedule_plan {
  int64_t wait;
  int64_t warmup;
  int64_t active;
  int64_t repeat;
  int64_t skip_first;
  int64_t skip_first_wait;
} oplens_schedule_plan;

typedef struct oplens_schedule oplens_schedule;

/* Called when a cycle is complete, with its number from 1, in the call that completes it. */
typedef void (*oplens_trace_ready)(int64_t cycle, void* context);

/* What a plan says of a step, from 0: OPLENS_ACTION_...; -1: no valid plan, or no step. */
OPLENS_API int oplens_schedule_action(const oplens_schedule_plan* plan, int64_t step);

/* What is done between two steps, a letter each, in order: P prepare, S start, X stop, T the trace
 * is ready (call back), W the schedule is wrong, what was recorded is dropped. The text lives as
 * long as the process; it is empty for what is no action. */
OPLENS_API const char* oplens_schedule_transition(int from, int to);

/* plan NULL: records always, and has no ProfilerStep# ranges. ready may be NULL. Answers NULL for a
 * plan that is not valid, which all functions below take as a schedule that does nothing. */
OPLENS_API oplens_schedule* oplens_schedule_new(const oplens_schedule_plan* plan,
                                                oplens_trace_ready ready, void* context);
/* Begins with step 0 (or goes on with the last one), goes to the next step, and ends. Each answers
 * the letters of what it did. A step before the start and a second stop do nothing. */
OPLENS_API const char* oplens_schedule_start(oplens_schedule* schedule);
OPLENS_API const char* oplens_schedule_step(oplens_schedule* schedule);
OPLENS_API const char* oplens_schedule_stop(oplens_schedule* schedule);
/* The same with an action that the caller chooses, instead of that of the plan. */
OPLENS_API const char* oplens_schedule_start_with(oplens_schedule* schedule, int action);
OPLENS_API const char* oplens_schedule_step_with(oplens_schedule* schedule, int action);
/* The number of the cycle that is recorded, or was completed last (0: none); that of the step. */
OPLENS_API int64_t oplens_schedule_cycle(const oplens_schedule* schedule);
OPLENS_API int64_t oplens_schedule_step_number(const oplens_schedule* schedule);
/* Stops it and frees it. */
OPLENS_API void oplens_schedule_delete(oplens_schedule* schedule);

#ifdef __cplusplus
}
#endif

#endif /* OPLENS_NVTX_ANNOTATE_OPLENS_ANNOTATE_H_ */
