#ifndef OPLENS_TEST_RECORDER_TEST_RECORDER_H_
#define OPLENS_TEST_RECORDER_TEST_RECORDER_H_

#include <stdint.h>

// liboplens_test_recorder.so: an NVTX injection library that keeps what a profiler would see, so
// that annotations are tested without a GPU and without a profiler.
//
//   NVTX_INJECTION64_PATH=.../liboplens_test_recorder.so OPLENS_TEST_RECORDER_OUT=run.%p.nvtx
//   program
//
// Environment:
//   OPLENS_TEST_RECORDER       how it behaves; anything else than these: it refuses to start.
//       payload                (default) takes payloads of the schemas "oplens.op.v1" and
//       "oplens.memory.v1" text                   a tool without NVTX's payload extension foreign
//       a tool with the extension that does not know that schema discard-payload, discard-text,
//       discard-foreign
//                              the same, but the events are overwritten: for measurements
//   OPLENS_TEST_RECORDER_OUT   file that is written when the process exits; %p becomes its id.
//                              Without %p children that were forked write nothing; with it,
//                              what they did themselves.
//
// The file holds a line an item, fields separated by one blank. Texts are percent-encoded: every
// byte but 0x21 to 0x7e, and '%'. The empty text is an empty field. Numbers are decimal, or
// hexadecimal where it is said.
//   oplens-capture 1 PID
//   domain ID NAME                 0, the default domain, has no line
//   category DOMAIN ID NAME
//   string ID DOMAIN TEXT          a registered string
//   thread TID NAME
//   schema ID DOMAIN BYTES NAME    ID hexadecimal; of a payload
//   push TIME TID DOMAIN [FIELD..]
//   pop TIME TID DOMAIN [FIELD..]
//   start TIME TID DOMAIN RANGE [FIELD..]
//   end TIME TID DOMAIN RANGE [FIELD..]
//   mark TIME TID DOMAIN [FIELD..]
// TIME is nanoseconds since 1970 and rises strictly within a thread; TID is the operating system's.
// The events of a thread stand together, in the order of the calls. Fields:
//   text=TEXT  string=ID  category=N  color=AARRGGBB
//   u64=N  i64=N  f64=X  u32=N  i32=N  f32=X       the payload of the C union
//   payload=SCHEMA:BYTES                           hexadecimal; as often as there are payloads
//
// Wide texts become UTF-8. Names of devices, streams, resources and synchronisation objects are not
// kept.

#if defined(__cplusplus)
extern "C" {
#endif

// For tests inside the process, through dlsym.

/// Writes what was recorded since the last clear. Returns 0, or an errno. Other threads may go on.
int oplens_test_recorder_write(const char* path);
/// Forgets the events so far. Names, domains, strings and schemas stay.
void oplens_test_recorder_clear(void);
/// Number of events since the process started, discarded and forgotten ones included.
uint64_t oplens_test_recorder_events(void);

#if defined(__cplusplus)
}
#endif

#endif  // OPLENS_TEST_RECORDER_TEST_RECORDER_H_
