// The golden list: what the graph passes, the host and the quantiser make of each spelling.
#include "model/spellings/spellings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/host/execution_form.h"
#include "tilewright/host/executor.h"
#include "tilewright/host/post_operations.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/attention.h"
#include "tilewright/transform/fold/fold_constants.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// "Mul Sigmoid", and "Activation(swish 1.702)" for what the host computes in one step.
std::string operators_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += (text.empty() ? "" : " ") + node.op;
    if (node.domain != kHostDomain) continue;
    for (const PostOperation& post : post_operations(node)) {
      text +=
          "(" + post.name + (post.alpha != 0 && post.alpha != 1 ? fmt::format(" {}", post.alpha) : "") + ")";
    }
  }
  return text;
}

Tensor sample(const Graph& graph) {
  Random random(5);
  Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
  for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, (i % 2 - 0.4) * (1 + 6 * random.uniform()));
  return x;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double scale = 1e-3, worst = a.shape() == b.shape() ? 0 : 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    scale = std::max(scale, std::abs(b.number_at(i)));
    worst = std::max(worst, std::abs(a.number_at(i) - b.number_at(i)));
  }
  return worst / scale;
}

Graph quantised(const Graph& graph) {
  QuantizeOptions options;
  options.calibration = CalibrationMethod::kMinMax;
  return integerize(quantize(graph, {sample(graph)}, options));
}

constexpr const char* kGolden = R"(
LayerNorm, PyTorch TorchScript
  written:  ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
LayerNorm, PyTorch dynamo
  written:  ReduceMean Sub Mul ReduceMean Add Sqrt Reciprocal Sub Mul Mul Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
LayerNorm, tf2onnx
  written:  ReduceMean Sub Mul ReduceMean Add Sqrt Reciprocal Mul Mul Sub Mul Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
LayerNorm, TFLite converter
  written:  ReduceMean Sub Mul ReduceMean Add Sqrt Reciprocal Mul Mul Mul Sub Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear Reshape QGemm Reshape QLayerNorm Reshape QGemm Reshape DequantizeLinear
LayerNorm without parameters, PyTorch
  written:  ReduceMean Sub Pow ReduceMean Add Sqrt Div
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
LayerNorm of two axes, PyTorch
  written:  ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear Reshape QGemm Reshape DequantizeLinear LayerNormalization QuantizeLinear Reshape QGemm Reshape DequantizeLinear
LayerNorm by sums, JAX
  written:  ReduceSum Div Sub Mul ReduceSum Div Add Pow Mul Mul Add
  passes:   LayerNormalization
  host:     LayerNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
RMSNorm, HuggingFace Llama
  written:  Pow ReduceMean Add Sqrt Div Mul Mul
  passes:   RMSNormalization
  host:     RMSNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
RMSNorm in half precision, HuggingFace Llama
  written:  Cast Cast Pow ReduceMean Add Sqrt Reciprocal Mul Cast Mul Cast
  passes:   Cast RMSNormalization Cast
  host:     Cast RMSNormalization Cast
  integers: QuantizeLinear QGemm DequantizeLinear Cast RMSNormalization Cast QuantizeLinear QGemm DequantizeLinear
RMSNorm, HuggingFace T5
  written:  Mul ReduceMean Add Sqrt Div Mul
  passes:   RMSNormalization
  host:     RMSNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
RMSNorm, HuggingFace Gemma
  written:  Mul ReduceMean Add Pow Mul Add Mul
  passes:   RMSNormalization
  host:     RMSNormalization
  integers: QuantizeLinear QGemm QLayerNorm QGemm DequantizeLinear
RoPE, HuggingFace Llama
  written:  Mul Slice Slice Neg Concat Mul Add
  passes:   RotaryEmbedding
  host:     RotaryEmbedding
  integers: QuantizeLinear QGemm QRotary QGemm DequantizeLinear
RoPE, ONNX RotaryEmbedding
  written:  Slice Slice Mul Mul Sub Mul Mul Add Concat
  passes:   RotaryEmbedding
  host:     RotaryEmbedding
  integers: QuantizeLinear QGemm QRotary QGemm DequantizeLinear
RoPE by chunk, PyTorch
  written:  Split Mul Mul Sub Mul Mul Add Concat
  passes:   RotaryEmbedding
  host:     RotaryEmbedding
  integers: QuantizeLinear QGemm QRotary QGemm DequantizeLinear
Causal softmax, HuggingFace
  written:  Add Softmax
  passes:   Add Softmax
  host:     Add Softmax
  integers: QuantizeLinear QGemm QSoftmax QGemm DequantizeLinear
GELU by erf, PyTorch
  written:  Div Erf Add Mul Mul
  passes:   Div Erf Add Mul Mul
  host:     Activation(gelu_erf)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
GELU by erf, Keras
  written:  Mul Erf Mul Add Mul
  passes:   Mul Erf Mul Add Mul
  host:     Activation(gelu_erf)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
GELU by tanh, HuggingFace
  written:  Pow Mul Add Mul Tanh Add Mul Mul
  passes:   Pow Mul Add Mul Tanh Add Mul Mul
  host:     Activation(gelu_tanh)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
GELU by tanh, PyTorch
  written:  Mul Mul Mul Add Mul Tanh Mul Add Mul
  passes:   Mul Mul Mul Add Mul Tanh Mul Add Mul
  host:     Activation(gelu_tanh)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
GELU by sigmoid, HuggingFace CLIP
  written:  Mul Sigmoid Mul
  passes:   Mul Sigmoid Mul
  host:     Activation(swish 1.702)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
SiLU, PyTorch
  written:  Sigmoid Mul
  passes:   Sigmoid Mul
  host:     Activation(swish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
SiLU by exp, JAX
  written:  Neg Exp Add Div
  passes:   Neg Exp Add Div
  host:     Activation(swish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
HardSwish, PyTorch
  written:  Add Clip Mul Div
  passes:   Add Clip Mul Div
  host:     Activation(hardswish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
HardSwish, Keras
  written:  Add Relu Min Mul Mul
  passes:   Add Clip Mul Mul
  host:     Activation(hardswish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
HardSwish by HardSigmoid, PyTorch
  written:  HardSigmoid Mul
  passes:   HardSigmoid Mul
  host:     Activation(hardswish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
Mish, PyTorch
  written:  Softplus Tanh Mul
  passes:   Softplus Tanh Mul
  host:     Activation(mish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
Mish by logarithm, TensorFlow Addons
  written:  Exp Add Log Tanh Mul
  passes:   Exp Add Log Tanh Mul
  host:     Activation(mish)
  integers: QuantizeLinear QGemm QLookup QGemm DequantizeLinear
)";

// Results are those of the primitives within rounding: on the host, and for activations as integers within a
// step of their 8 bits.
TEST(Spellings, GoldenList) {
  std::string list = "\n";
  EXPECT_GE(spellings().size(), 20u);
  for (const Spelling& spelling : spellings()) {
    SCOPED_TRACE(spelling.name);
    const Graph graph = spelling.build(false), simple = optimize(graph);
    const Graph within = spelling.build(true), integer = quantised(optimize(within));
    list += std::string(spelling.name) + "\n  written:  " + operators_of(graph) +
            "\n  passes:   " + operators_of(simple) +
            "\n  host:     " + operators_of(execution_form(simple)) +
            "\n  integers: " + operators_of(integer) + "\n";
    const Tensor x = sample(graph), wanted = run(graph, {x})[0];
    EXPECT_LE(largest_difference(run(simple, {x})[0], wanted), 1e-5);
    EXPECT_LE(largest_difference(Executor(simple).run({x})[0], wanted), 1e-5);
    EXPECT_LE(largest_difference(run(integer, {x})[0], run(within, {x})[0]), 0.05);
  }
  EXPECT_EQ(list, kGolden);
}

// Of the graph as it is written and after the passes.
TEST(Spellings, Attentions) {
  std::string list = "\n";
  for (const Spelling& spelling : attention_spellings()) {
    const Graph graph = spelling.build(false);
    for (const Graph& form : {fold_constants(graph), optimize(graph)}) {
      for (const Attention& a : find_attention(form)) {
        list += std::string(spelling.name) + ": ";
        if (!a.reason.empty()) {
          list += a.reason + "\n";
          continue;
        }
        list += fmt::format("{} heads of {}, scale {:.4f}, {} by {}{}\n", a.heads, a.width, a.scale,
                            a.queries, a.keys,
                            a.mask_kind == AttentionMask::kNone    ? ""
                            : a.mask_kind == AttentionMask::kAdded ? ", mask added"
                                                                   : ", mask selects");
      }
    }
  }
  EXPECT_EQ(list, R"(
HuggingFace BERT: 4 heads of 8, scale 0.3536, 5 by 5, mask added
HuggingFace BERT: 4 heads of 8, scale 0.3536, 5 by 5, mask added
PyTorch dynamo: 4 heads of 8, scale 0.3536, 5 by 5
PyTorch dynamo: 4 heads of 8, scale 0.3536, 5 by 5
HuggingFace GPT-2: 4 heads of 8, scale 0.3536, 5 by 5, mask selects
HuggingFace GPT-2: 4 heads of 8, scale 0.3536, 5 by 5, mask selects
PyTorch MultiheadAttention: 4 heads of 8, scale 0.3536, 5 by 5
PyTorch MultiheadAttention: 4 heads of 8, scale 0.3536, 5 by 5
HuggingFace Gemma 2: its scores come from node 'Tanh' (Tanh)
HuggingFace Gemma 2: its scores come from node 'Tanh' (Tanh)
)");
}

}  // namespace
}  // namespace tilewright
