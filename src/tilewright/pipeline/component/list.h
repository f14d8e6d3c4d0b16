// The components, by name, each defined in the .cpp file of its name. This list is the whole registration:
// the declarations below, the table of component.cpp and the tests' list of cases are made of it.
#pragma once

#include "tilewright/pipeline/component/component.h"

// clang-format off
#define TILEWRIGHT_COMPONENTS(component) \
  component(kControl, control) \
  component(kDmaRead, dma_read) \
  component(kDmaWrite, dma_write) \
  component(kFinish, finish) \
  component(kLaneArray, lane_array) \
  component(kLineWindow, line_window) \
  component(kMacArray, mac_array) \
  component(kReadShare, read_share) \
  component(kRomWalker, rom_walker) \
  component(kSlidingWindow, sliding_window) \
  component(kStreamFifo, stream_fifo) \
  component(kStreamFork, stream_fork) \
  component(kStreamFrame, stream_frame) \
  component(kStreamJoin, stream_join) \
  component(kStreamWidth, stream_width) \
  component(kTensorMemory, tensor_memory) \
  component(kTensorReader, tensor_reader) \
  component(kTensorWriter, tensor_writer) \
  component(kWeightRing, weight_ring)
// clang-format on

namespace tilewright::pipeline {

#define TILEWRIGHT_DECLARE_COMPONENT(constant, name) extern const ComponentType constant;
TILEWRIGHT_COMPONENTS(TILEWRIGHT_DECLARE_COMPONENT)
#undef TILEWRIGHT_DECLARE_COMPONENT

}  // namespace tilewright::pipeline
