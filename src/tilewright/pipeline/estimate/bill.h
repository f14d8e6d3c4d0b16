// The components of the design that an allocation becomes, with sizes alone and nothing built: what the
// resource estimate adds up. It is the description that the netlist is made of (design/component_sink.h).
#pragma once

#include <utility>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/component_sink.h"
#include "tilewright/pipeline/design/network_facts.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct BillItem {
  const char* component = "";
  netlist::Parameters parameters;  // sizes and kinds; names of files and tables left out
};

// The sink that keeps sizes.
class Bill : public ComponentSink {
 public:
  Stream stream(const Label&, int64_t elements, int element_bits) override;
  void add(const Label&, const char* component, netlist::Parameters parameters,
           std::initializer_list<StreamPort>, Nets) override {
    items_.push_back({component, std::move(parameters)});
  }
  std::vector<BillItem> take() { return std::move(items_); }

 private:
  std::vector<BillItem> items_;
};

// Streaming: one layer's stage with the queues and width converters before it and the forks after it.
std::vector<BillItem> stage_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, size_t layer);
// The components between the memory ports and the stages.
std::vector<BillItem> border_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                  const Allocation& allocation);
// Memory ports and control.
std::vector<BillItem> frame_bill(const Network& network, const Allocation& allocation);
// All components of a design. `plan` is for processors.
std::vector<BillItem> streaming_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation);
std::vector<BillItem> processor_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation, const Plan& plan);

}  // namespace tilewright::pipeline
