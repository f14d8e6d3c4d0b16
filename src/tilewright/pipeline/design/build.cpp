// The two shapes are described each by itself; here are what comes before and the layout of images in memory.
#include "tilewright/pipeline/design/build.h"

#include "tilewright/base/error.h"
#include "tilewright/pipeline/design/processor_design.h"
#include "tilewright/pipeline/design/streaming_design.h"

namespace tilewright::pipeline {

namespace {

// On a network whose first layer is unrolled.
Design wired(const Network& network, const Allocation& allocation) {
  Design design;
  design.name = network.name;
  design.netlist.top = "tilewright_pipeline";
  design.netlist.modules.push_back(netlist::Module(design.netlist.top));
  Wiring wiring(design.netlist.modules[0], design.images);
  const std::vector<LayerFacts> facts = network_facts(network);
  if (allocation.streaming) {
    StreamingDesign(network, facts, allocation, wiring, &design).whole();
  } else {
    const Plan plan = make_plan(network, allocation);
    ProcessorDesign(network, facts, allocation, plan, wiring, &design).whole();
  }
  return design;
}

}  // namespace

Network unrolled(const Network& network, const Allocation& allocation) {
  if (allocation.layers.empty() || !allocation.layers[0].unroll) return network;
  Network result = network;
  Layer& first = result.layers[0];
  const TensorShape& out = result.tensors[size_t(first.output)].shape;
  TensorShape& in = result.tensors[size_t(first.input)].shape;
  in = {out.rows, out.columns, in.channels * first.window.rows * first.window.columns};
  first.window = {};
  return result;
}

Design build(const Network& network, const Allocation& allocation) {
  Diagnostics diagnostics;
  allocation.verify(network, diagnostics);
  diagnostics.raise_if_any("allocation");
  const Network prepared = unrolled(network, allocation);
  Design design = wired(prepared, allocation);
  design.input.source = network.tensors[size_t(network.input)].shape;
  if (allocation.layers[0].unroll) design.input.unrolled = network.layers[0].window;
  return design;
}

std::vector<uint8_t> arrange_input(const DramLayout& layout, const std::vector<int32_t>& image) {
  TILEWRIGHT_CHECK(int64_t(image.size()) == layout.source.elements(), "an image of another size");
  std::vector<uint8_t> bytes(size_t(layout.bytes));
  const int bits = layout.element_bits;
  const auto put = [&](int64_t element, int64_t value) {
    if (layout.bipolar) value = value > 0 ? 1 : 0;
    for (int bit = 0; bit < bits; ++bit) {
      const int64_t at = element * bits + bit;
      bytes[size_t(at / 8)] |= uint8_t(((value >> bit) & 1) << (at % 8));
    }
  };
  const TensorShape &to = layout.shape, &from = layout.source;
  const LayerWindow& w = layout.unrolled;
  for (int64_t y = 0; y < to.rows; ++y) {
    for (int64_t x = 0; x < to.columns; ++x) {
      const int64_t first = (y * to.columns + x) * layout.word_elements;
      if (w.rows == 0) {
        const int64_t pixel = (y * from.columns + x) * from.channels;
        for (int64_t c = 0; c < from.channels; ++c) put(first + c, image[size_t(pixel + c)]);
        continue;
      }
      for (int64_t tap = 0; tap < w.rows * w.columns; ++tap) {
        const int64_t iy = y * w.stride_y - w.top + tap / w.columns;
        const int64_t ix = x * w.stride_x - w.left + tap % w.columns;
        const bool inside = iy >= 0 && iy < from.rows && ix >= 0 && ix < from.columns;
        for (int64_t c = 0; c < from.channels; ++c) {
          const int64_t value =
              inside ? image[size_t((iy * from.columns + ix) * from.channels + c)] : w.pad_value;
          put(first + tap * from.channels + c, value);
        }
      }
    }
  }
  return bytes;
}

std::vector<int32_t> read_output(const DramLayout& layout, const std::vector<uint8_t>& bytes) {
  std::vector<int32_t> result;
  const int bits = layout.element_bits;
  for (int64_t pixel = 0; pixel < layout.shape.rows * layout.shape.columns; ++pixel) {
    for (int64_t c = 0; c < layout.shape.channels; ++c) {
      const int64_t low = (pixel * layout.word_elements + c) * bits;
      uint64_t value = 0;
      for (int bit = 0; bit < bits; ++bit) {
        value |= uint64_t((bytes[size_t((low + bit) / 8)] >> ((low + bit) % 8)) & 1) << bit;
      }
      const int64_t number = int64_t(value << (64 - bits)) >> (64 - bits);
      result.push_back(int32_t(layout.bipolar ? (value != 0 ? 1 : -1) : number));
    }
  }
  return result;
}

}  // namespace tilewright::pipeline
