// The descriptions of both shapes, and of their parts, to a sink that keeps sizes.
#include "tilewright/pipeline/estimate/bill.h"

#include "tilewright/pipeline/design/processor_design.h"
#include "tilewright/pipeline/design/streaming_design.h"

namespace tilewright::pipeline {

Stream Bill::stream(const Label&, int64_t elements, int element_bits) {
  Stream stream;
  stream.elements = elements;
  stream.element_bits = element_bits;
  stream.width = int(elements * element_bits);
  return stream;
}

std::vector<BillItem> stage_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, size_t layer) {
  Bill bill;
  StreamingDesign(network, facts, allocation, bill).stage_alone(layer);
  return bill.take();
}

std::vector<BillItem> border_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                  const Allocation& allocation) {
  Bill bill;
  StreamingDesign(network, facts, allocation, bill).border_alone();
  return bill.take();
}

std::vector<BillItem> frame_bill(const Network& network, const Allocation& allocation) {
  Bill bill;
  DesignBuilder builder(network, allocation, bill, nullptr);
  builder.input_beats(8);
  builder.output_beats(builder.port_beats("", 8));
  builder.finish_frame();
  return bill.take();
}

std::vector<BillItem> streaming_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation) {
  Bill bill;
  StreamingDesign(network, facts, allocation, bill).whole();
  return bill.take();
}

std::vector<BillItem> processor_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation, const Plan& plan) {
  Bill bill;
  ProcessorDesign(network, facts, allocation, plan, bill).whole();
  return bill.take();
}

}  // namespace tilewright::pipeline
