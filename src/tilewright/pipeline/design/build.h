// From a network and an allocation to a design: the netlist of components, and the contents of its memories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/image/memory_image.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// How the host lays the image into memory, and reads the result: words of `word_elements` channels of
// `element_bits` each, pixel by pixel.
struct DramLayout {
  TensorShape shape;  // after unrolling
  int64_t word_elements = 1;
  int element_bits = 8;
  bool bipolar = false;
  int64_t bytes = 0;  // of one image, padded to whole beats of the port
  // The unrolled window (Allocation: unroll); rows = 0: none.
  LayerWindow unrolled{0, 0};
  TensorShape source;  // of the image before unrolling
};

// One task of one engine or stage: which rows of which layer. It ends with the `beats`-th beat of `stream`
// (the net's name without _valid); several tasks of one stream count one after another.
struct Task {
  std::string engine;
  int layer = 0;
  int64_t first_row = 0, rows = 0;
  std::string stream;
  int64_t beats = 0;
};

struct Design {
  std::string name;
  netlist::Netlist netlist;  // top: `tilewright_pipeline` with AXI4-Lite s_*, AXI4 m0_* .., irq
  MemoryImages images;       // by the file names that components' parameters give
  DramLayout input, output;
  std::vector<uint8_t> weights;  // the data in DRAM, one run of bytes per channel after the other
  int64_t weight_bytes_per_channel = 0;
  std::vector<Task> tasks;  // in the order of the plan
  int64_t multipliers = 0;  // products per cycle of all arrays
  double clock_mhz = 100;
  int64_t port_bytes = 8, channels = 1;
  bool streaming = false;  // all images are one run: the driver writes the bytes of all
};

// With the first layer unrolled where the allocation says so: a 1x1 layer on a deeper image.
Network unrolled(const Network& network, const Allocation& allocation);

// Errors: whatever Allocation::verify finds.
Design build(const Network& network, const Allocation& allocation);

// An image (row, column, channel) as the bytes that the hardware reads, and back from what it wrote.
std::vector<uint8_t> arrange_input(const DramLayout& layout, const std::vector<int32_t>& image);
std::vector<int32_t> read_output(const DramLayout& layout, const std::vector<uint8_t>& bytes);

}  // namespace tilewright::pipeline
