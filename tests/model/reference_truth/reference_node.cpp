#include "reference_node.h"

#include <gtest/gtest.h>

#include "tilewright/graph/product_places.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/reference_fixed.h"
#include "tilewright/tensor/reference_kernels.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright {
namespace {

int32_t number(const Node& node, const char* name, int64_t fallback) {
  return int32_t(node.int_or(name, fallback));
}

std::array<int64_t, 2> pair_of(const Node& node, const char* name, int64_t fallback) {
  const std::vector<int64_t> values = node.ints_or(name, {fallback, fallback});
  return {values.at(0), values.at(1)};
}

OutputStage output_of(const Node& node) {
  return {number(node, "y_zero_point", 0), number(node, "clip_low", -128), number(node, "clip_high", 127)};
}

WindowParameters window_of(const Node& node) {
  const std::vector<int64_t> pads = node.ints_or("pads", {0, 0, 0, 0});
  return {pair_of(node, "strides", 1),
          pair_of(node, "dilations", 1),
          {pads.at(0), pads.at(1), pads.at(2), pads.at(3)}};
}

}  // namespace

std::optional<Tensor> run_reference(const Node& node, const std::vector<Tensor>& in) {
  if (node.is_tilewright("QConv")) {
    const ConvParameters p{window_of(node), node.int_or("group", 1), number(node, "pad_value", 0),
                           output_of(node)};
    return reference_conv(in.at(0), in.at(1), in.at(2), in.at(3), in.at(4), p);
  }
  if (node.is_tilewright("QConvTranspose")) {
    const ConvTransposeParameters p{window_of(node), pair_of(node, "output_padding", 0),
                                    node.int_or("group", 1), output_of(node)};
    return reference_conv_transpose(in.at(0), in.at(1), in.at(2), in.at(3), in.at(4), p);
  }
  if (node.is_tilewright("QGemm")) {
    return reference_gemm(in.at(0), in.at(1), in.at(2), in.at(3), in.at(4), output_of(node));
  }
  if (node.is_tilewright("QAdd")) {
    return reference_add(in.at(0), in.at(1),
                         {number(node, "multiplier_a", 1), number(node, "multiplier_b", 1),
                          number(node, "bias", 0), number(node, "shift", 0), output_of(node)});
  }
  if (node.is_tilewright("QMul")) {
    return reference_multiply(in.at(0), in.at(1),
                              {number(node, "a_zero_point", 0), number(node, "b_zero_point", 0),
                               number(node, "multiplier", 1), number(node, "shift", 0), output_of(node)});
  }
  if (node.is_tilewright("QAveragePool")) {
    return reference_average_pool(
        in.at(0),
        {window_of(node), pair_of(node, "kernel_shape", 1), number(node, "pad_value", 0),
         number(node, "bias", 0), number(node, "multiplier", 1), number(node, "shift", 0), output_of(node)});
  }
  if (node.is_tilewright("QRequantize")) {
    return reference_requantize(in.at(0), {number(node, "bias", 0), number(node, "multiplier", 1),
                                           number(node, "shift", 0), output_of(node)});
  }
  if (node.is_tilewright("QMatMul")) {
    ProductParameters p = product_places(node);
    p.a_zero_point = number(node, "a_zero_point", 0);
    p.b_zero_point = number(node, "b_zero_point", 0);
    p.multiplier = number(node, "multiplier", 1);
    p.shift = number(node, "shift", 0);
    p.output = output_of(node);
    return reference_product(in.at(0), in.at(1), p);
  }
  if (node.is_tilewright("QSoftmax")) {
    return reference_softmax(
        in.at(0), in.at(1),
        {node.int_or("numerator", 1), number(node, "shift", 0), output_of(node), node.int_or("causal", 0)},
        in.size() > 2 ? in[2].integer_at(0) : 0);
  }
  if (node.is_tilewright("QRotary")) {
    return reference_rotary(in.at(0), in.at(1), in.at(2),
                            {number(node, "x_zero_point", 0), node.int_or("heads", 1),
                             number(node, "multiplier", 1), number(node, "shift", 0), output_of(node)});
  }
  if (node.is_tilewright("QLayerNorm")) {
    return reference_norm(in.at(0), in.at(1), in.at(2), in.at(3),
                          {number(node, "x_zero_point", 0), node.int_or("center", 1) != 0,
                           number(node, "fraction", 0), node.int_or("epsilon", 1), output_of(node)});
  }
  if (node.is_tilewright("QLookup")) return reference_lookup(in.at(0), in.at(1));
  return {};
}

Tensor run_by_reference(const Graph& graph, const Tensor& input, int least) {
  std::vector<Tensor> values(graph.values.size());
  values[size_t(graph.inputs[0])] = input;
  int reference_nodes = 0;
  for (const Node& node : graph.nodes) {
    std::vector<Tensor> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(graph.is_constant(id) ? *graph.value(id).constant : values[size_t(id)]);
    std::optional<Tensor> output = run_reference(node, inputs);
    if (output) {
      ++reference_nodes;
    } else {
      // Borders and movement of data: float operators, reshapes.
      EXPECT_NE(node.domain, kTilewrightDomain) << node.op << " has no reference kernel";
      std::vector<const Tensor*> pointers;
      for (const Tensor& tensor : inputs) pointers.push_back(&tensor);
      output = evaluate(graph, node, pointers)[0];
    }
    values[size_t(node.outputs[0])] = *output;
  }
  EXPECT_GE(reference_nodes, least);
  return values[size_t(graph.outputs[0])];
}

}  // namespace tilewright
