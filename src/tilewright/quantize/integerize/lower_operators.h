// One function per family of operators that compute: float operator between quantised values in, integer
// operator out. Each returns nullopt after noting the reason in the builder.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {

// Any operator with an integer form except data movement and Concat.
std::optional<ValueId> lower_operator(IntegerBuilder& builder, const Node& node, const IntegerForm& form);

// `extra` is added to the real-valued result, one number per output channel (or a single one; may be empty).
std::optional<ValueId> lower_convolution(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                         const std::vector<double>& extra = {});
std::optional<ValueId> lower_transposed_convolution(IntegerBuilder& builder, const Node& node,
                                                    const IntegerForm& form,
                                                    const std::vector<double>& extra = {});
std::optional<ValueId> lower_dense(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                   const std::vector<double>& extra = {});
// Add, Sub, Sum of two.
std::optional<ValueId> lower_addition(IntegerBuilder& builder, const Node& node, const IntegerForm& form);
// AveragePool, GlobalAveragePool, ReduceMean over the spatial axes.
std::optional<ValueId> lower_average(IntegerBuilder& builder, const Node& node, const IntegerForm& form);

// BatchNormalization, and Add, Sub, Mul and Div with constants, one per channel, where no layer takes them.
std::optional<ValueId> lower_channel_affine(IntegerBuilder& builder, const Node& node,
                                            const IntegerForm& form);
// PRelu with a constant slope per channel, all of them at most 1, or all at least.
std::optional<ValueId> lower_channel_prelu(IntegerBuilder& builder, const Node& node,
                                           const IntegerForm& form);
// Resize in linear mode (linear_resize.h).
std::optional<ValueId> lower_linear_resize(IntegerBuilder& builder, const Node& node,
                                           const IntegerForm& form);
// Mul of two quantised values whose shapes broadcast.
std::optional<ValueId> lower_multiplication(IntegerBuilder& builder, const Node& node,
                                            const IntegerForm& form);

// Gemm and MatMul of two computed values, times `factor` > 0.
std::optional<ValueId> lower_product(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                     double factor = 1);
bool multiplies_computed(const Graph& graph, const Node& node);
// Mul of such a product with one positive constant number, or Div by one.
struct ScaledProduct {
  const Node* product;
  double factor;
};
std::optional<ScaledProduct> product_times_number(const Graph& graph, const std::vector<NodeId>& producers,
                                                  const Node& scaling);
// What a Softmax of the last axis reads before a constant causal mask was added: square masks of 0 where a
// column is not after its row and of at most -16 where it is, of one or more tokens. nullopt: no such sum.
struct CausalScores {
  ValueId scores = kNoValue;
  int64_t tokens = 0;
};
std::optional<CausalScores> causal_scores(const Graph& graph, const std::vector<NodeId>& producers,
                                          const Node& softmax);
// Softmax, also of causal scores, LayerNormalization and RMSNormalization, of the last axis.
std::optional<ValueId> lower_softmax(IntegerBuilder& builder, const Node& node, const IntegerForm& form);
std::optional<ValueId> lower_norm(IntegerBuilder& builder, const Node& node, const IntegerForm& form);
std::optional<ValueId> lower_rotary(IntegerBuilder& builder, const Node& node, const IntegerForm& form);

// Functions of one quantised value, through any number of float operators (element_function.h); the first
// does not note a reason.
std::optional<ValueId> lower_function(IntegerBuilder& builder, const Node& node, const IntegerForm& form);
std::optional<ValueId> lower_lookup(IntegerBuilder& builder, const Node& node, const IntegerForm& form);

// Mul of a constant with the result of ConvInteger or MatMulInteger that was cast to float.
std::optional<ValueId> lower_scaled_product(IntegerBuilder& builder, const Node& mul, const IntegerForm& form,
                                            const std::vector<double>& extra = {});
// Its parts: the product with one positive scale, or one per output channel.
std::optional<ValueId> lower_integer_convolution(IntegerBuilder& builder, const Node& node,
                                                 const std::vector<double>& scales, const IntegerForm& form,
                                                 const std::vector<double>& extra);
std::optional<ValueId> lower_integer_matmul(IntegerBuilder& builder, const Node& node,
                                            const std::vector<double>& scales, const IntegerForm& form,
                                            const std::vector<double>& extra);

// QLinearConv and QLinearMatMul: the integer form of the node's own output.
std::optional<ValueId> lower_qlinear_convolution(IntegerBuilder& builder, const Node& node);
std::optional<ValueId> lower_qlinear_matmul(IntegerBuilder& builder, const Node& node);

// y_zero_point, clip_low and clip_high, where they differ from the defaults.
void set_output_form(Node& node, const IntegerForm& form);

}  // namespace tilewright
