// A streaming design: one stage per layer, joined by streams. Described to a sink as a whole, or in the parts
// that an allocator weighs up.
#pragma once

#include <string>
#include <vector>

#include "tilewright/pipeline/design/design_builder.h"
#include "tilewright/pipeline/design/layer_geometry.h"

namespace tilewright::pipeline {

class StreamingDesign {
 public:
  // `facts`: network_facts(network). `design`: as for DesignBuilder.
  StreamingDesign(const Network& network, const std::vector<LayerFacts>& facts, const Allocation& allocation,
                  ComponentSink& sink, Design* design = nullptr);

  void whole();
  // One stage with the queues and width converters before it and the forks after it. Where nothing is
  // wired.
  void stage_alone(size_t layer);
  // The components between the memory ports and the stages. Where nothing is wired.
  void border_alone();

 private:
  Wiring* wiring() { return builder_.wiring(); }
  Label stage_name(size_t layer) const;
  const NetworkTensor& tensor(int id) const { return network_.tensors[size_t(id)]; }
  std::vector<Stream> handed_on(int id, const Label& name, Stream stream);
  Stream carried(int id);
  Stream stage(size_t layer, Stream in, Stream residual);
  Stream feeder(const Label& name, const LayerGeometry& g, const NetworkTensor& in, Stream words);
  Stream sliding_window(const Label& name, const LayerGeometry& g, const NetworkTensor& in, Stream words);
  Stream line_window(const Label& name, const LayerGeometry& g, const NetworkTensor& in, Stream words);
  Stream weights(const Label& name, const Layer& layer, const LayerGeometry& g);
  Stream array(const Label& name, size_t layer, const LayerGeometry& g, Stream act);
  Stream finish(const Label& name, size_t layer, const LayerGeometry& g, Stream sums, Stream residual);

  const Network& network_;
  const std::vector<LayerFacts>& facts_;
  const Allocation& allocation_;
  ComponentSink& sink_;
  DesignBuilder builder_;
  std::vector<std::string> names_;  // of the stages, where they are wired
};

// A tensor as the stages see it: the input unrolled, where the first of them wants it so.
TensorShape border_shape(const Network& network, const Allocation& allocation, int id);

// Elements per beat of the stream that carries a tensor, behind its writer or behind the frame of the input.
int64_t stream_elements(const Network& network, const Allocation& allocation, int tensor);

}  // namespace tilewright::pipeline
