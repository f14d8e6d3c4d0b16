// Operators in the order that files of these exporters have them; sizes are small.
#include "model/spellings/spellings.h"

#include <cmath>

#include "support/transform/layer_builder_testing.h"

namespace tilewright {
namespace {

const Shape kTokens{10, 8}, kBatch{2, 5, 8};
constexpr int64_t kF32Code = 1, kF16Code = 10;

// A function of x with one result; between two layers, if wanted.
class Written {
 public:
  explicit Written(bool between_layers, const Shape& shape = kTokens)
      : x(b.input(shape)), between_layers_(between_layers) {
    if (between_layers) x = layer(x);
  }

  ValueId op(const char* name, std::vector<ValueId> inputs) { return b.node(name, std::move(inputs)); }
  ValueId number(float value) { return b.constant(Tensor::scalar(value)); }
  ValueId gamma(Shape shape = {8}) { return b.uniform(std::move(shape), 0.5, 1.5, "gamma"); }
  ValueId beta(Shape shape = {8}) { return b.uniform(std::move(shape), -0.5, 0.5, "beta"); }
  ValueId mean(ValueId of, std::vector<int64_t> axes = {-1}) {
    return b.node("ReduceMean", {of}, {{"axes", std::move(axes)}, {"keepdims", int64_t{1}}});
  }
  ValueId cast(ValueId value, int64_t type) { return b.node("Cast", {value}, {{"to", type}}); }
  Graph end(ValueId y) { return b.finish({between_layers_ ? layer(y) : y}); }

  LayerBuilder b;
  ValueId x;

 private:
  ValueId layer(ValueId of) { return b.node("MatMul", {of, b.uniform({8, 8}, -0.6, 0.6)}); }

  const bool between_layers_;
};

Graph layer_norm_torchscript(bool between_layers) {
  Written w(between_layers);
  const ValueId d = w.op("Sub", {w.x, w.mean(w.x)});
  const ValueId variance = w.mean(w.op("Pow", {d, w.number(2)}));
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-5f)})});
  return w.end(w.op("Add", {w.op("Mul", {w.op("Div", {d, root}), w.gamma()}), w.beta()}));
}

Graph layer_norm_dynamo(bool between_layers) {
  Written w(between_layers);
  const ValueId mean = w.mean(w.x), d = w.op("Sub", {w.x, mean});
  const ValueId variance = w.mean(w.op("Mul", {d, d}));
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-5f)})});
  const ValueId inverse = w.op("Reciprocal", {root}), again = w.op("Sub", {w.x, mean});
  return w.end(w.op("Add", {w.op("Mul", {w.op("Mul", {again, inverse}), w.gamma()}), w.beta()}));
}

Graph layer_norm_tf2onnx(bool between_layers) {
  Written w(between_layers);
  const ValueId mean = w.mean(w.x), d = w.op("Sub", {w.x, mean});
  const ValueId variance = w.mean(w.op("Mul", {d, d}));
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-3f)})});
  const ValueId factor = w.op("Mul", {w.op("Reciprocal", {root}), w.gamma()});
  const ValueId shift = w.op("Sub", {w.beta(), w.op("Mul", {mean, factor})});
  return w.end(w.op("Add", {w.op("Mul", {w.x, factor}), shift}));
}

// SQUARED_DIFFERENCE as the reader writes it, RSQRT likewise.
Graph layer_norm_tflite(bool between_layers) {
  Written w(between_layers, kBatch);
  const ValueId mean = w.mean(w.x, {2}), d = w.op("Sub", {w.x, mean});
  const ValueId variance = w.mean(w.op("Mul", {d, d}), {2});
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-3f)})});
  const ValueId factor = w.op("Mul", {w.op("Reciprocal", {root}), w.gamma({1, 1, 8})});
  const ValueId scaled = w.op("Mul", {w.x, factor}), moved = w.op("Mul", {factor, mean});
  return w.end(w.op("Add", {scaled, w.op("Sub", {w.beta({1, 1, 8}), moved})}));
}

Graph layer_norm_without_parameters(bool between_layers) {
  Written w(between_layers);
  const ValueId d = w.op("Sub", {w.x, w.mean(w.x)});
  const ValueId variance = w.mean(w.op("Pow", {d, w.number(2)}));
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-6f)})});
  return w.end(w.op("Div", {d, root}));
}

Graph layer_norm_of_two_axes(bool between_layers) {
  Written w(between_layers, kBatch);
  const ValueId d = w.op("Sub", {w.x, w.mean(w.x, {-2, -1})});
  const ValueId variance = w.mean(w.op("Pow", {d, w.number(2)}), {-2, -1});
  const ValueId root = w.op("Sqrt", {w.op("Add", {variance, w.number(1e-5f)})});
  return w.end(w.op("Add", {w.op("Mul", {w.op("Div", {d, root}), w.gamma({5, 8})}), w.beta({5, 8})}));
}

Graph layer_norm_by_sums(bool between_layers) {
  Written w(between_layers);
  const auto mean = [&](ValueId of) {
    return w.op("Div", {w.op("ReduceSum", {of, w.b.integers({-1})}), w.number(8)});
  };
  const ValueId d = w.op("Sub", {w.x, mean(w.x)});
  const ValueId sum = w.op("Add", {mean(w.op("Mul", {d, d})), w.number(1e-6f)});
  const ValueId inverse = w.op("Pow", {sum, w.number(-0.5f)});
  return w.end(w.op("Add", {w.op("Mul", {d, w.op("Mul", {inverse, w.gamma()})}), w.beta()}));
}

Graph rms_norm_llama(bool between_layers) {
  Written w(between_layers);
  const ValueId sum = w.op("Add", {w.mean(w.op("Pow", {w.x, w.number(2)})), w.number(1e-6f)});
  const ValueId inverse = w.op("Div", {w.number(1), w.op("Sqrt", {sum})});
  return w.end(w.op("Mul", {w.gamma(), w.op("Mul", {w.x, inverse})}));
}

Graph rms_norm_in_half(bool between_layers) {
  Written w(between_layers);
  const ValueId half = w.cast(w.x, kF16Code), wide = w.cast(half, kF32Code);
  const ValueId sum = w.op("Add", {w.mean(w.op("Pow", {wide, w.number(2)})), w.number(1e-6f)});
  const ValueId inverse = w.op("Reciprocal", {w.op("Sqrt", {sum})});
  const ValueId normal = w.cast(w.op("Mul", {wide, inverse}), kF16Code);
  Tensor gamma(ElementType::kF16, Shape{8});
  for (int64_t i = 0; i < 8; ++i) gamma.set_number(i, 0.5 + 0.125 * double(i));
  return w.end(w.cast(w.op("Mul", {w.b.constant(gamma), normal}), kF32Code));
}

Graph rms_norm_t5(bool between_layers) {
  Written w(between_layers);
  const ValueId sum = w.op("Add", {w.mean(w.op("Mul", {w.x, w.x})), w.number(1e-6f)});
  return w.end(w.op("Mul", {w.op("Div", {w.x, w.op("Sqrt", {sum})}), w.gamma()}));
}

Graph rms_norm_gemma(bool between_layers) {
  Written w(between_layers);
  const ValueId sum = w.op("Add", {w.mean(w.op("Mul", {w.x, w.x})), w.number(1e-6f)});
  const ValueId normal = w.op("Mul", {w.x, w.op("Pow", {sum, w.number(-0.5f)})});
  return w.end(w.op("Mul", {normal, w.op("Add", {w.gamma(), w.number(1)})}));
}

// The angles of ten tokens, for four pairs or, repeated, for whole heads of eight.
ValueId angles(Written& w, bool whole, double phase, const Shape& shape) {
  Tensor table(ElementType::kF32, shape);
  for (int64_t i = 0; i < table.size(); ++i) {
    const int64_t width = whole ? 8 : 4;
    table.set_number(i, std::sin(phase + double(i / width) * std::pow(0.3, double(i % 4))));
  }
  return w.b.constant(table);
}

ValueId half_of(Written& w, int64_t begin, int64_t end) {
  return w.op("Slice", {w.x, w.b.integers({begin}), w.b.integers({end}), w.b.integers({-1})});
}

ValueId joined_halves(Written& w, ValueId a, ValueId b) {
  return w.b.node("Concat", {a, b}, {{"axis", int64_t{-1}}});
}

constexpr double kQuarterTurn = 1.5707963267948966;

Graph rotary_llama(bool between_layers) {
  Written w(between_layers);
  const ValueId cosines = angles(w, true, kQuarterTurn, {10, 8}), sines = angles(w, true, 0, {10, 8});
  const ValueId straight = w.op("Mul", {w.x, cosines});
  const ValueId a = half_of(w, 0, 4), b = half_of(w, 4, INT64_MAX);
  const ValueId across = joined_halves(w, w.op("Neg", {b}), a);
  return w.end(w.op("Add", {straight, w.op("Mul", {across, sines})}));
}

Graph rotary_by_points(Written& w, ValueId a, ValueId b) {
  const ValueId cosines = angles(w, false, kQuarterTurn, {10, 4}), sines = angles(w, false, 0, {10, 4});
  const ValueId real = w.op("Sub", {w.op("Mul", {a, cosines}), w.op("Mul", {b, sines})});
  return w.end(joined_halves(w, real, w.op("Add", {w.op("Mul", {b, cosines}), w.op("Mul", {a, sines})})));
}

Graph rotary_onnx(bool between_layers) {
  Written w(between_layers);
  const ValueId a = half_of(w, 0, 4), b = half_of(w, 4, 8);
  return rotary_by_points(w, a, b);
}

Graph rotary_by_chunk(bool between_layers) {
  Written w(between_layers);
  const ValueId a = w.b.node("Split", {w.x, w.b.integers({4, 4})}, {{"axis", int64_t{-1}}}, 2);
  return rotary_by_points(w, a, w.b.graph().nodes.back().outputs[1]);
}

Graph causal_softmax(bool between_layers) {
  Written w(between_layers, {8, 8});
  Tensor mask(ElementType::kF32, Shape{8, 8});
  for (int64_t i = 0; i < 64; ++i)
    if (i % 8 > i / 8) mask.set_number(i, -3.4028234663852886e38);
  const ValueId scores = w.op("Add", {w.x, w.b.constant(mask)});
  return w.end(w.b.node("Softmax", {scores}, {{"axis", int64_t{-1}}}));
}

Graph gelu_erf_pytorch(bool between_layers) {
  Written w(between_layers);
  const ValueId erf = w.op("Erf", {w.op("Div", {w.x, w.number(1.41421354f)})});
  const ValueId y = w.op("Mul", {w.x, w.op("Add", {erf, w.number(1)})});
  return w.end(w.op("Mul", {y, w.number(0.5f)}));
}

Graph gelu_erf_keras(bool between_layers) {
  Written w(between_layers);
  const ValueId erf = w.op("Erf", {w.op("Mul", {w.x, w.number(0.707106769f)})});
  const ValueId half = w.op("Mul", {w.number(0.5f), w.x});
  return w.end(w.op("Mul", {half, w.op("Add", {w.number(1), erf})}));
}

Graph gelu_tanh_huggingface(bool between_layers) {
  Written w(between_layers);
  const ValueId cube = w.op("Mul", {w.op("Pow", {w.x, w.number(3)}), w.number(0.044715f)});
  const ValueId inner = w.op("Mul", {w.op("Add", {w.x, cube}), w.number(0.797884583f)});
  const ValueId outer = w.op("Add", {w.op("Tanh", {inner}), w.number(1)});
  return w.end(w.op("Mul", {w.op("Mul", {w.x, w.number(0.5f)}), outer}));
}

Graph gelu_tanh_pytorch(bool between_layers) {
  Written w(between_layers);
  const ValueId square = w.op("Mul", {w.x, w.x}), cube = w.op("Mul", {square, w.x});
  const ValueId sum = w.op("Add", {w.x, w.op("Mul", {cube, w.number(0.044715f)})});
  const ValueId tanh = w.op("Tanh", {w.op("Mul", {sum, w.number(0.797884583f)})});
  return w.end(w.op("Mul", {w.op("Mul", {w.x, w.number(0.5f)}), w.op("Add", {tanh, w.number(1)})}));
}

Graph gelu_quick_clip(bool between_layers) {
  Written w(between_layers);
  return w.end(w.op("Mul", {w.x, w.op("Sigmoid", {w.op("Mul", {w.x, w.number(1.702f)})})}));
}

Graph silu_pytorch(bool between_layers) {
  Written w(between_layers);
  return w.end(w.op("Mul", {w.x, w.op("Sigmoid", {w.x})}));
}

Graph silu_by_exp(bool between_layers) {
  Written w(between_layers);
  const ValueId sum = w.op("Add", {w.op("Exp", {w.op("Neg", {w.x})}), w.number(1)});
  return w.end(w.op("Div", {w.x, sum}));
}

Graph hard_swish_pytorch(bool between_layers) {
  Written w(between_layers);
  const ValueId clip = w.op("Clip", {w.op("Add", {w.x, w.number(3)}), w.number(0), w.number(6)});
  return w.end(w.op("Div", {w.op("Mul", {w.x, clip}), w.number(6)}));
}

Graph hard_swish_keras(bool between_layers) {
  Written w(between_layers);
  const ValueId gate = w.op("Min", {w.op("Relu", {w.op("Add", {w.x, w.number(3)})}), w.number(6)});
  return w.end(w.op("Mul", {w.x, w.op("Mul", {gate, w.number(1 / 6.0f)})}));
}

Graph hard_swish_by_hard_sigmoid(bool between_layers) {
  Written w(between_layers);
  const ValueId gate = w.b.node("HardSigmoid", {w.x}, {{"alpha", 1 / 6.0f}, {"beta", 0.5f}});
  return w.end(w.op("Mul", {gate, w.x}));
}

Graph mish_pytorch(bool between_layers) {
  Written w(between_layers);
  return w.end(w.op("Mul", {w.x, w.op("Tanh", {w.op("Softplus", {w.x})})}));
}

Graph mish_by_logarithm(bool between_layers) {
  Written w(between_layers);
  const ValueId log = w.op("Log", {w.op("Add", {w.op("Exp", {w.x}), w.number(1)})});
  return w.end(w.op("Mul", {w.x, w.op("Tanh", {log})}));
}

}  // namespace

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> kAll = {
      {"LayerNorm, PyTorch TorchScript", layer_norm_torchscript},
      {"LayerNorm, PyTorch dynamo", layer_norm_dynamo},
      {"LayerNorm, tf2onnx", layer_norm_tf2onnx},
      {"LayerNorm, TFLite converter", layer_norm_tflite},
      {"LayerNorm without parameters, PyTorch", layer_norm_without_parameters},
      {"LayerNorm of two axes, PyTorch", layer_norm_of_two_axes},
      {"LayerNorm by sums, JAX", layer_norm_by_sums},
      {"RMSNorm, HuggingFace Llama", rms_norm_llama},
      {"RMSNorm in half precision, HuggingFace Llama", rms_norm_in_half},
      {"RMSNorm, HuggingFace T5", rms_norm_t5},
      {"RMSNorm, HuggingFace Gemma", rms_norm_gemma},
      {"RoPE, HuggingFace Llama", rotary_llama},
      {"RoPE, ONNX RotaryEmbedding", rotary_onnx},
      {"RoPE by chunk, PyTorch", rotary_by_chunk},
      {"Causal softmax, HuggingFace", causal_softmax},
      {"GELU by erf, PyTorch", gelu_erf_pytorch},
      {"GELU by erf, Keras", gelu_erf_keras},
      {"GELU by tanh, HuggingFace", gelu_tanh_huggingface},
      {"GELU by tanh, PyTorch", gelu_tanh_pytorch},
      {"GELU by sigmoid, HuggingFace CLIP", gelu_quick_clip},
      {"SiLU, PyTorch", silu_pytorch},
      {"SiLU by exp, JAX", silu_by_exp},
      {"HardSwish, PyTorch", hard_swish_pytorch},
      {"HardSwish, Keras", hard_swish_keras},
      {"HardSwish by HardSigmoid, PyTorch", hard_swish_by_hard_sigmoid},
      {"Mish, PyTorch", mish_pytorch},
      {"Mish by logarithm, TensorFlow Addons", mish_by_logarithm},
  };
  return kAll;
}

}  // namespace tilewright
