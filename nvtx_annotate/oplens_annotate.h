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
 * Without a profiler that listens to NVTX, calls do nothing except check for one. No call fails,
 * throws, prints, or changes errno. All functions are thread-safe; a range belongs to the thread
 * that began it. Texts are copied before a call returns. A null pointer is an empty text, no
 * arguments, or an undefined tensor.
 *
 * ABI: functions are only added, and structures never change their layout; oplens_abi_version()
 * counts the additions. */
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

/* The kind of an argument, and the fields that it uses. */
enum {
  OPLENS_NONE = 0,       /* None: no value */
  OPLENS_TENSOR = 1,     /* dtype; count extents at value.ints, outermost first; 0: a 0-d tensor */
  OPLENS_INT = 2,        /* value.integer */
  OPLENS_FLOAT = 3,      /* value.number */
  OPLENS_BOOLEAN = 4,    /* value.integer, 0 or 1 */
  OPLENS_STRING = 5,     /* count bytes at value.text, UTF-8 */
  OPLENS_INT_LIST = 6,   /* count numbers at value.ints */
  OPLENS_INT_TUPLE = 7,  /* likewise, printed as a tuple */
  OPLENS_FLOAT_LIST = 8, /* count numbers at value.numbers */
  OPLENS_BOOL_LIST = 9,  /* count bytes at value.bytes, 0 or 1 */
  OPLENS_COMPLEX = 10,   /* value.numbers: real and imaginary part */
  OPLENS_OTHER = 11      /* any other type: count bytes at value.text name it */
};

/* One argument of an op. As in Python, positional arguments come first. Zero all bytes before
 * setting fields. */
typedef struct oplens_arg {
  const char* name; /* keyword, zero-terminated; NULL: positional */
  uint16_t kind;    /* OPLENS_TENSOR, ... */
  uint16_t dtype;   /* OPLENS_FLOAT32, ... */
  uint16_t list;    /* member of the n-th list of tensors of this call, from 1; 0: none */
  uint16_t more;    /* number of equal members of its list that follow */
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

/* Connects a backward node to the op that created it. seq -1: no connection. */
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

/* 1 if a profiler would see a range now. Avoids collecting arguments in vain. */
OPLENS_API int oplens_enabled(void);

/* 1 if a profiler listens to NVTX, inside the capture window or not; 0: no range of this process
 * will ever be seen. Since version 2. */
OPLENS_API int oplens_has_tool(void);

/* Open and close the capture window, in which ranges are emitted. It is open from the start of the
 * program unless the environment has OPLENS_ANNOTATE=off. Both emit a mark in the domain "oplens",
 * and start or stop the CUDA profiler if the process has loaded the CUDA runtime or driver. */
OPLENS_API void oplens_start(void);
OPLENS_API void oplens_stop(void);

/* Each function begins a range and returns its token, 0 if nothing was begun. oplens_end() ends it
 * with all ranges of this interface that were begun inside and are still open; it ignores tokens
 * that were ended already or belong to another thread. */
OPLENS_API uint64_t oplens_op_begin(const char* mod, const char* op, const oplens_arg* args,
                                    uint64_t arg_count);
/* An op that a backward node will refer to; takes the thread's next sequence number. link may be
 * NULL; otherwise *link is always written. */
OPLENS_API uint64_t oplens_forward_begin(const char* mod, const char* op, const oplens_arg* args,
                                         uint64_t arg_count, oplens_link* link);
OPLENS_API uint64_t oplens_backward_begin(const char* node, oplens_link link);
OPLENS_API uint64_t
oplens_layer_begin(const char* name); /* nested in the enclosing layer, if any */
/* A layer by its full path, whatever encloses it. Since version 2. */
OPLENS_API uint64_t oplens_layer_path_begin(const char* path);
OPLENS_API uint64_t oplens_trace_begin(const char* const* frames,
                                       uint64_t count); /* "file:line", outermost first */
OPLENS_API uint64_t oplens_iteration_begin(int64_t number);
OPLENS_API uint64_t oplens_phase_begin(int phase); /* OPLENS_FORWARD, ... */
OPLENS_API uint64_t oplens_range_begin(const char* text);
OPLENS_API void oplens_end(uint64_t token);

/* An allocation by a framework's allocator or, with negative bytes, its release. The totals are the
 * device's after it, -1 if unknown. device_type is PyTorch's: 0 host, 1 CUDA. Seen only by
 * recorders that know the payload (`record`). Since version 2. */
OPLENS_API void oplens_memory(uint64_t address, int64_t bytes, int64_t total_allocated,
                              int64_t total_reserved, int device_type, int device);

/* Capture schedules like torch.profiler's, since version 2. A program that calls
 * oplens_schedule_step() after each iteration is recorded in cycles: only its RECORD and
 * RECORD_AND_SAVE steps. `record` writes one file per complete cycle. Only one schedule may run at
 * a time, on one thread. */
enum {
  OPLENS_ACTION_NONE = 0,
  OPLENS_ACTION_WARMUP = 1, /* like RECORD, but nothing is kept */
  OPLENS_ACTION_RECORD = 2,
  OPLENS_ACTION_RECORD_AND_SAVE = 3, /* the last step of a cycle */
  OPLENS_ACTION_EXIT = 4             /* of oplens_schedule_transition: the schedule ends */
};

/* skip_first idle steps once, then `repeat` (0: unlimited) cycles of wait, warmup and active steps.
 * skip_first_wait != 0: the first cycle does not wait. Valid if no number is negative and active >
 * 0. Zero all bytes before setting fields. */
typedef struct oplens_schedule_plan {
  int64_t wait;
  int64_t warmup;
  int64_t active;
  int64_t repeat;
  int64_t skip_first;
  int64_t skip_first_wait;
} oplens_schedule_plan;

typedef struct oplens_schedule oplens_schedule;

/* Called with the number of a complete cycle, from 1, in the call that completes it. */
typedef void (*oplens_trace_ready)(int64_t cycle, void* context);

/* The OPLENS_ACTION_* of a step, from 0; -1 for an invalid plan or step. */
OPLENS_API int oplens_schedule_action(const oplens_schedule_plan* plan, int64_t step);

/* What happens between two steps, one letter each, in order: P prepare, S start, X stop, T trace
 * ready (callback), W invalid transition, which drops what was recorded. A static text; empty for
 * invalid actions. */
OPLENS_API const char* oplens_schedule_transition(int from, int to);

/* plan NULL: always records, without ProfilerStep# ranges. ready may be NULL. Returns NULL for an
 * invalid plan, which the functions below treat as a schedule that does nothing. */
OPLENS_API oplens_schedule* oplens_schedule_new(const oplens_schedule_plan* plan,
                                                oplens_trace_ready ready, void* context);
/* Start with step 0 (or resume the last step), go to the next step, and stop. Each returns the
 * letters of what it did. A step before the start and a second stop do nothing. */
OPLENS_API const char* oplens_schedule_start(oplens_schedule* schedule);
OPLENS_API const char* oplens_schedule_step(oplens_schedule* schedule);
OPLENS_API const char* oplens_schedule_stop(oplens_schedule* schedule);
/* With an action chosen by the caller instead of the plan's. */
OPLENS_API const char* oplens_schedule_start_with(oplens_schedule* schedule, int action);
OPLENS_API const char* oplens_schedule_step_with(oplens_schedule* schedule, int action);
/* The number of the current or last completed cycle (0: none), and of the step. */
OPLENS_API int64_t oplens_schedule_cycle(const oplens_schedule* schedule);
OPLENS_API int64_t oplens_schedule_step_number(const oplens_schedule* schedule);
/* Stops and frees it. */
OPLENS_API void oplens_schedule_delete(oplens_schedule* schedule);

#ifdef __cplusplus
}
#endif

#endif /* OPLENS_NVTX_ANNOTATE_OPLENS_ANNOTATE_H_ */
