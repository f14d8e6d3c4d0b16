// Random networks on random allocations of both shapes give netlists that the verifier accepts; the layout of
// images in memory is what the host reads back.
#include "tilewright/pipeline/design/build.h"

#include <gtest/gtest.h>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/design/wiring.h"

namespace tilewright::pipeline {
namespace {

void expect_hardware(const Design& design) {
  Diagnostics diagnostics;
  netlist::verify(design.netlist, component_library(), diagnostics);
  for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
}

TEST(Build, RandomStreamingDesignsAreHardware) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    expect_hardware(build(network, random_stages(network, seed)));
  }
}

TEST(Build, RandomProcessorDesignsAreHardware) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    expect_hardware(build(network, random_processors(network, seed)));
  }
}

TEST(Wiring, StreamsAreNamedAfterTheirPorts) {
  netlist::Module module("m");
  MemoryImages images;
  Wiring wiring(module, images);
  const Stream stream = wiring.stream("pixels", 4, 6);
  EXPECT_EQ(stream.valid, module.net("pixels_valid"));
  EXPECT_EQ(stream.ready, module.net("pixels_ready"));
  EXPECT_EQ(stream.data, module.net("pixels_data"));
  EXPECT_EQ(module.nets[size_t(stream.data)].width, 24);
}

TEST(Build, UnrolledInputHoldsTheWindows) {
  DramLayout layout;
  layout.source = {2, 2, 1};
  layout.shape = {2, 2, 4};
  layout.unrolled = {2, 2, 1, 1, 0, 0, 9};
  layout.word_elements = 4;
  layout.bytes = 16;
  const std::vector<uint8_t> expected = {1, 2, 3, 4, 2, 9, 4, 9, 3, 4, 9, 9, 4, 9, 9, 9};
  EXPECT_EQ(arrange_input(layout, {1, 2, 3, 4}), expected);
}

TEST(Build, NarrowElementsComeBack) {
  DramLayout layout;
  layout.source = layout.shape = {1, 3, 2};
  layout.word_elements = 4;
  layout.element_bits = 2;
  layout.bytes = 8;
  const std::vector<int32_t> image = {-2, 1, 0, -1, 1, 1};
  EXPECT_EQ(read_output(layout, arrange_input(layout, image)), image);
}

}  // namespace
}  // namespace tilewright::pipeline
