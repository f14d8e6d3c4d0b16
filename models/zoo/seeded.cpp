#include "zoo/seeded.h"

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

// Decisions between overlay and host are for products; here the overlay is what is looked at.
constexpr HostModel kVerySlowHost{.gmac_per_s = 1e-6};

}  // namespace

std::vector<Tensor> seeded_inputs(const Graph& graph, uint64_t seed) {
  LcgStream stream(seed);
  std::vector<Tensor> inputs;
  for (const ValueId input : graph.inputs) {
    const Value& value = graph.value(input);
    Tensor& tensor = inputs.emplace_back(value.type, value.shape);
    const bool integer = value.type == ElementType::kI8;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const float drawn = 2 * stream.next() - 1;
      tensor.set_number(i, integer ? std::floor(128 * drawn) : drawn);
    }
  }
  return inputs;
}

Tensor seeded_input(const Graph& graph, uint64_t seed) { return seeded_inputs(graph, seed).at(0); }

Graph seeded_integer_form(Graph float_graph, const OverlayHardware& hardware) {
  QuantizeOptions options;
  options.scales = hardware.isa == IsaVersion::kVta ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
  const std::vector<Tensor> samples = seeded_inputs(float_graph);
  const Graph simple = optimize(std::move(float_graph));
  return integerize(quantize(simple, samples, options));
}

Compilation seeded_compilation(Graph float_graph, const OverlayHardware& hardware) {
  return compile(seeded_integer_form(std::move(float_graph), hardware), hardware, kVerySlowHost);
}

std::vector<SmallCase> small_cases(int64_t image) {
  std::vector<SmallCase> cases;
  cases.push_back({"residual_block", residual_block(64, image)});
  cases.push_back({"depthwise_layer", depthwise_layer(32, image)});
  cases.push_back({"transposed_layer", transposed_layer(32, 16, image)});
  cases.push_back({"grouped_layer", grouped_layer(32, 16, image)});
  return cases;
}

}  // namespace tilewright::zoo
