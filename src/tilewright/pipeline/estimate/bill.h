// The components of the design for an allocation, without building it; the resource estimate adds them up.
// bill_test compares it with what the builder instantiates.
#pragma once

#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/network_facts.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct BillItem {
  const char* component = "";
  netlist::Parameters parameters;  // sizes and kinds; names of files and tables left out
  int part = -1;                   // streaming: layer; processors: engine; -1: the design's frame
  int64_t count = 1;
};

// Streaming: one layer's stage with the queues and width converters before it and the forks after it.
std::vector<BillItem> stage_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, size_t layer);
// The components between the memory ports and the stages.
std::vector<BillItem> border_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                  const Allocation& allocation);
// All components of a design. `plan` is for processors.
std::vector<BillItem> streaming_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation);
std::vector<BillItem> processor_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation, const Plan& plan);
// Streaming: elements per beat of the stream that carries a tensor, after its writer or after the frame of
// the input.
int64_t stream_elements(const Network& network, const Allocation& allocation, int tensor);
// Between a stream of a tensor's `count` elements and whole beats of a memory port: what the last beat holds
// beyond them is dropped or added. `width`: elements per beat of the design's stream; for an input set to the
// result.
std::vector<BillItem> port_bill(const Allocation& allocation, int64_t count, int bits, bool input,
                                int64_t& width);
// `from` elements per beat to `to`.
void add_width(std::vector<BillItem>& items, int part, int bits, int64_t from, int64_t to, int64_t count);
// Control, memory ports and their sharing: the same in both shapes.
std::vector<BillItem> frame_bill(const Allocation& allocation, int64_t busy_inputs);

}  // namespace tilewright::pipeline
