// The C interface, called from C: c_header_test.c.

#include <gmock/gmock.h>

#include "nvtx_annotate/oplens_annotate.h"
#include "test/annotate/annotate_fixture.h"

extern "C" void oplens_test_emit_from_c(void);
namespace oplens::test {
/// cxx17_header_test.cc
void EmitFromCxx17();
void EmitFromSizes();

namespace {

using ::testing::ElementsAre;

class CInterfaceTest : public AnnotateTest {};

TEST_F(CInterfaceTest, EveryFunction) {
  const std::string args =
      "{'name': '', 'type': 'tensor', 'shape': (64, 128), 'dtype': 'float32'}, "
      "{'name': 'mat2', 'type': 'tensor', 'shape': (128, 32), 'dtype': 'float32'}";
  std::string numbered = OpDict("torch", "mm", args);
  numbered.replace(numbered.find("'seq': -1"), 9, "'seq': 0");
  EXPECT_THAT(EmitOutline(oplens_test_emit_from_c),
              ElementsAre("ProfilerStep#3", "  phase:forward", "    layer:net",
                          "      {'traceMarker': ['main.c:1', 'net.c:2']}",
                          "        " + OpDict("torch", "mm", args), "        " + numbered,
                          "          mm, seq = 0",
                          "  {'oplens': {'v': 1, 'seq': 0, 'tid': T1, 'ftid': T1, 'dir': 'b', "
                          "'node': 'MmBackward0'}}",
                          "    MmBackward, seq = 0"));
}

TEST_F(CInterfaceTest, SizesAndNamesOfAnyType) {
  EXPECT_THAT(
      EmitOutline(EmitFromSizes),
      ElementsAre(
          "layer:block4", "  layer:block4.norm",
          "    " + OpDict("torch", "op",
                          "{'name': '', 'type': 'tensor', 'shape': (4, 3, 2), "
                          "'dtype': 'float32'}, "
                          "{'name': '', 'type': 'tensor', 'shape': (4, 7), "
                          "'dtype': 'int8'}, "
                          "{'name': '', 'type': 'tensor', 'shape': (), 'dtype': 'float64'}, "
                          "{'name': '', 'type': 'tuple', 'value': (4, -1)}, "
                          "{'name': '', 'type': 'list', 'value': [3, 2]}")));
}

TEST_F(CInterfaceTest, NullPointers) {
  EXPECT_THAT(EmitOutline([] {
                oplens_end(oplens_op_begin(nullptr, nullptr, nullptr, 7));
                oplens_end(oplens_forward_begin(nullptr, nullptr, nullptr, 7, nullptr));
                oplens_end(oplens_backward_begin(nullptr, {-1, 0}));
                oplens_end(oplens_layer_begin(nullptr));
                oplens_end(oplens_trace_begin(nullptr, 7));
                oplens_end(oplens_range_begin(nullptr));
                const char* const frames[] = {nullptr};
                oplens_end(oplens_trace_begin(frames, 1));
              }),
              ElementsAre(OpDict("", "", ""),
                          "{'mod': '', 'op': '', 'args': [], 'oplens': {'v': 1, 'type': 'op', "
                          "'seq': 0, 'tid': T1, 'ftid': 0, 'dir': 'f'}}",
                          "  , seq = 0",
                          "{'oplens': {'v': 1, 'seq': -1, 'tid': T1, 'ftid': 0, 'dir': 'b', "
                          "'node': ''}}",
                          "layer:", "{'traceMarker': []}", "", "{'traceMarker': ['']}"));
}

TEST_F(CInterfaceTest, CxxHeaderIsCxx17) {
  EXPECT_THAT(EmitOutline(EmitFromCxx17),
              ElementsAre("layer:old",
                          "  " + OpDict("torch", "op", "{'name': '', 'type': 'int', 'value': 1}")));
}

}  // namespace
}  // namespace oplens::test
