// Every value of the graph gets the name of the TensorFlow tensor that holds it. The spelling of the k-th
// normalisation, convolution and dense layer is k modulo the number of spellings.
#include "model/models_tensorflow/graphdef_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;
using Floats = std::vector<float>;

class Twin {
 public:
  Twin(const Graph& graph, uint64_t seed) : graph_(graph), random_(seed), is_random_(seed != 0) {}

  std::vector<std::byte> build() {
    const Value& input = graph_.value(graph_.inputs[0]);
    std::vector<int64_t> dims = input.shape.dims();
    if (dims.size() == 4) dims = {dims[0], dims[2], dims[3], dims[1]};
    dims[0] = -1;
    text_.placeholder(input.name, dims);
    tensor_[graph_.inputs[0]] = input.name;
    text_.boolean("default_phase", true);
    text_.node("train_phase", "PlaceholderWithDefault", {"default_phase"},
               type_attribute("dtype", kBool) + shape_attribute("shape", {}));
    text_.placeholder("keep_prob", {});
    for (const Node& node : graph_.nodes) write(node);
    if (is_random_) shuffle();
    return text_.build();
  }

 private:
  const Tensor& constant(const Node& node, int index) const {
    const Tensor* tensor = graph_.constant_input(node, index);
    TILEWRIGHT_CHECK(tensor != nullptr, "the twin needs constant weights");
    return *tensor;
  }
  const std::string& input(const Node& node, int index = 0) { return tensor_.at(node.input(index)); }
  void result(const Node& node, const std::string& name) {
    static constexpr const char* kForwarding[] = {"Identity", "StopGradient", "CheckNumerics", "Snapshot"};
    std::string& tensor = tensor_[node.outputs[0]];
    tensor = name;
    if (!is_random_ || !random_.chance(0.3) || graph_.is_output(node.outputs[0])) return;
    tensor = name + "/forwarded";
    text_.node(tensor, kForwarding[random_.between(0, 3)], {name, "^default_phase"});
  }

  // Which of `count` spellings has its turn.
  int turn(int& counter, int count) {
    return is_random_ ? int(random_.between(0, count - 1)) : counter++ % count;
  }

  void shuffle() {
    for (size_t i = text_.nodes.size(); i > 1; --i) {
      std::swap(text_.nodes[i - 1], text_.nodes[size_t(random_.between(0, int64_t(i) - 1))]);
    }
  }

  // A constant behind an Identity, as freezing leaves variables.
  std::string weights(const std::string& name, const std::vector<int64_t>& dims, const Floats& values) {
    text_.floats(name, dims, values).node(name + "/read", "Identity", {name});
    return name + "/read";
  }

  void write(const Node& node) {
    if (node.is("Conv")) return write_conv(node);
    if (node.is("BatchNormalization")) return write_batch_norm(node);
    if (node.is("MaxPool")) return write_max_pool(node);
    if (node.is("Gemm")) return write_dense(node);
    if (node.is("Flatten")) return write_flatten(node);
    if (node.is("GlobalAveragePool")) {
      text_.ints(node.name + "/axes", {2}, {1, 2});
      text_.node(node.name, "Mean", {input(node), node.name + "/axes"}, bool_attribute("keep_dims", true));
    } else if (node.is("Relu") || node.is("Sigmoid")) {
      text_.node(node.name, node.op, {input(node)});
    } else if (node.is("Clip")) {
      TILEWRIGHT_CHECK(constant(node, 1).number_at(0) == 0 && constant(node, 2).number_at(0) == 6,
                       "the twin clips to 0..6");
      text_.node(node.name, "Relu6", {input(node)});
    } else if (node.is("Add")) {
      text_.node(node.name, "AddV2", {input(node, 0), input(node, 1)});
    } else {
      TILEWRIGHT_CHECK(false, "the twin does not cover " + node.op);
    }
    result(node, node.name);
  }

  // begin and end of rows and columns.
  std::vector<int64_t> pads_of(const Node& node, const std::vector<int64_t>& kernel) const {
    const Shape& x = graph_.value(node.input(0)).shape;
    if (node.string_or("auto_pad", "NOTSET") != "SAME_UPPER") return node.ints_or("pads", {0, 0, 0, 0});
    return same_pads(x, kernel, node.ints_or("strides", {1, 1}));
  }
  static std::vector<int64_t> same_pads(const Shape& x, const std::vector<int64_t>& kernel,
                                        const std::vector<int64_t>& strides) {
    std::vector<int64_t> pads(4);
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t size = x[int(axis) + 2], outputs = (size + strides[axis] - 1) / strides[axis];
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * strides[axis] + kernel[axis] - size);
      pads[axis] = total / 2;
      pads[axis + 2] = total - total / 2;
    }
    return pads;
  }

  // The padding attribute of a window, and the tensor to read: behind a Pad when that spelling has its turn.
  std::string padding(const Node& node, const std::vector<int64_t>& kernel, float pad_value, std::string& x) {
    const std::vector<int64_t> pads = pads_of(node, kernel);
    const std::vector<int64_t> strides = node.ints_or("strides", {1, 1});
    const int spelling = turn(padded_, 3);
    if (pads == std::vector<int64_t>{0, 0, 0, 0}) return string_attribute("padding", "VALID");
    const bool is_same = pads == same_pads(graph_.value(node.input(0)).shape, kernel, strides);
    if (spelling != 1 && is_same) return string_attribute("padding", "SAME");
    if (spelling != 2 && node.is("Conv")) {
      return string_attribute("padding", "EXPLICIT") +
             ints_attribute("explicit_paddings", {0, 0, pads[0], pads[2], pads[1], pads[3], 0, 0});
    }
    const std::string name = node.name + "/pad";
    text_.ints(name + "/paddings", {4, 2},
               {0, 0, int32_t(pads[0]), int32_t(pads[2]), int32_t(pads[1]), int32_t(pads[3]), 0, 0});
    std::vector<std::string> inputs = {x, name + "/paddings"};
    if (pad_value != 0) {
      text_.floats(name + "/value", {}, {pad_value});
      inputs.push_back(name + "/value");
    }
    text_.node(name, pad_value == 0 ? "Pad" : "PadV2", inputs);
    x = name;
    return string_attribute("padding", "VALID");
  }

  // Weights OIHW as HWIO, or HWCM for a depthwise convolution.
  void write_conv(const Node& node) {
    const Tensor& source = constant(node, 1);
    const Shape& shape = source.shape();
    const bool is_depthwise = node.int_or("group", 1) != 1;
    TILEWRIGHT_CHECK(!is_depthwise || shape[1] == 1, "the twin covers depthwise groups only");
    const int64_t channels = is_depthwise ? node.int_or("group", 1) : shape[1];
    const int64_t multiplier = is_depthwise ? shape[0] / channels : shape[0];
    Floats values;
    for (int64_t h = 0; h < shape[2]; ++h) {
      for (int64_t w = 0; w < shape[3]; ++w) {
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t m = 0; m < multiplier; ++m) {
            const int64_t row = is_depthwise ? c * multiplier + m : m * channels + c;
            values.push_back(float(source.number_at((row * shape[2] + h) * shape[3] + w)));
          }
        }
      }
    }
    const std::string kernel =
        weights(node.name + "/kernel", {shape[2], shape[3], channels, multiplier}, values);
    const std::vector<int64_t> strides = node.ints_or("strides", {1, 1});
    std::string x = input(node);
    const std::string pads = padding(node, {shape[2], shape[3]}, 0, x);
    text_.node(node.name, is_depthwise ? "DepthwiseConv2dNative" : "Conv2D", {x, kernel},
               pads + ints_attribute("strides", {1, strides[0], strides[1], 1}) +
                   string_attribute("data_format", "NHWC"));
    std::string name = node.name;
    if (node.has_input(2)) name = with_bias(node.name, constant(node, 2), turn(biased_, 2) == 0);
    result(node, name);
  }

  std::string with_bias(const std::string& name, const Tensor& bias, bool by_add) {
    const std::string read = weights(name + "/bias", {bias.size()}, bias.to_floats());
    text_.node(name + "/biased", by_add ? "Add" : "BiasAdd", {name, read});
    return name + "/biased";
  }

  void write_max_pool(const Node& node) {
    const std::vector<int64_t> kernel = node.ints_or("kernel_shape", {}),
                               strides = node.ints_or("strides", {1, 1});
    std::string x = input(node);
    const std::string pads = padding(node, kernel, -INFINITY, x);
    text_.node(node.name, "MaxPool", {x},
               pads + ints_attribute("ksize", {1, kernel[0], kernel[1], 1}) +
                   ints_attribute("strides", {1, strides[0], strides[1], 1}));
    result(node, node.name);
  }

  void write_flatten(const Node& node) {
    flattened_[node.outputs[0]] = graph_.value(node.input(0)).shape;
    text_.ints(node.name + "/shape", {2}, {-1, int32_t(graph_.value(node.outputs[0]).shape[1])});
    text_.node(node.name, "Reshape", {input(node), node.name + "/shape"});
    result(node, node.name);
  }

  // Channels-last maps flatten in another order, which the rows of the next weights follow.
  void write_dense(const Node& node) {
    const Tensor& source = constant(node, 1);
    const bool transposed = node.int_or("transB", 0) != 0;
    const int64_t inputs = source.shape()[transposed ? 1 : 0], outputs = source.shape()[transposed ? 0 : 1];
    const auto flattened = flattened_.find(node.input(0));
    Floats values;
    for (int64_t i = 0; i < inputs; ++i) {
      int64_t from = i;
      if (flattened != flattened_.end()) {
        const Shape& x = flattened->second;
        from = (i % x[1]) * x[2] * x[3] + i / x[1];
      }
      for (int64_t o = 0; o < outputs; ++o) {
        values.push_back(float(source.number_at(transposed ? o * inputs + from : from * outputs + o)));
      }
    }
    const std::string read = weights(node.name + "/weights", {inputs, outputs}, values);
    text_.node(node.name, "MatMul", {dropout(node.name, input(node)), read});
    std::string name = node.name;
    if (node.has_input(2)) name = with_bias(node.name, constant(node, 2), turn(biased_, 2) == 0);
    result(node, name);
  }

  std::string dropout(const std::string& name, const std::string& x) {
    const std::string at = name + "/dropout";
    text_.node(at + "/Shape", "Shape", {x}, type_attribute("out_type", kInt32));
    text_.node(at + "/uniform", "RandomUniform", {at + "/Shape"}, type_attribute("dtype", kFloat));
    if (turn(dropped_, 2) == 0) {
      text_.node(at + "/add", "Add", {"keep_prob", at + "/uniform"})
          .node(at + "/Floor", "Floor", {at + "/add"});
      text_.node(at + "/div", "RealDiv", {x, "keep_prob"});
      text_.node(at + "/mul", "Mul", {at + "/div", at + "/Floor"});
    } else {
      text_.floats(at + "/rate", {}, {0.25f}).floats(at + "/factor", {}, {1 / 0.75f});
      text_.node(at + "/ge", "GreaterEqual", {at + "/uniform", at + "/rate"});
      text_.node(at + "/mask", "Cast", {at + "/ge"}, type_attribute("DstT", kFloat));
      text_.node(at + "/scaled", "Mul", {x, at + "/factor"});
      text_.node(at + "/mul", "Mul", {at + "/scaled", at + "/mask"});
    }
    return at + "/mul";
  }

  void write_batch_norm(const Node& node) {
    const Tensor* p[4];
    for (int k = 0; k < 4; ++k) p[k] = &constant(node, k + 1);
    const float epsilon = node.float_or("epsilon", 1e-5f);
    const int64_t channels = p[0]->size();
    const char* kNames[] = {"/gamma", "/beta", "/moving_mean", "/moving_variance"};
    const int spelling = turn(normalized_, 7);
    if (spelling == 4) return write_affine(node, p, epsilon);
    std::vector<std::string> read;
    for (int k = 0; k < 4; ++k) read.push_back(weights(node.name + kNames[k], {channels}, p[k]->to_floats()));
    if (spelling == 2 || spelling == 6) return write_spelled_out(node, read, epsilon, spelling == 2);
    if (spelling == 3) {
      text_.node(
          node.name, "BatchNormWithGlobalNormalization", {input(node), read[2], read[3], read[1], read[0]},
          float_attribute("variance_epsilon", epsilon) + bool_attribute("scale_after_normalization", true));
      return result(node, node.name);
    }
    if (spelling == 5) return write_switched(node, read, epsilon);
    text_.node(node.name, spelling == 0 ? "FusedBatchNorm" : "FusedBatchNormV3",
               {input(node), read[0], read[1], read[2], read[3]}, fused_attributes(epsilon, false));
    result(node, node.name);
  }

  static std::string fused_attributes(float epsilon, bool is_training) {
    return float_attribute("epsilon", epsilon) + bool_attribute("is_training", is_training) +
           string_attribute("data_format", "NHWC");
  }

  // One factor and one summand, worked out by the exporter.
  void write_affine(const Node& node, const Tensor* const* p, float epsilon) {
    Floats scale, shift;
    for (int64_t c = 0; c < p[0]->size(); ++c) {
      const double factor = p[0]->number_at(c) / std::sqrt(p[3]->number_at(c) + double(epsilon));
      scale.push_back(float(factor));
      shift.push_back(float(p[1]->number_at(c) - p[2]->number_at(c) * factor));
    }
    const int64_t channels = int64_t(scale.size());
    text_.floats(node.name + "/scale", {channels}, scale)
        .floats(node.name + "/shift", {1, 1, 1, channels}, shift);
    text_.node(node.name + "/scaled", "Mul", {input(node), node.name + "/scale"});
    text_.node(node.name, "Add", {node.name + "/scaled", node.name + "/shift"});
    result(node, node.name);
  }

  // With Rsqrt, the scale first; or in the order of the definition with a square root.
  void write_spelled_out(const Node& node, const std::vector<std::string>& read, float epsilon,
                         bool by_rsqrt) {
    const std::string& n = node.name;
    text_.floats(n + "/epsilon", {}, {epsilon}).node(n + "/add", "Add", {read[3], n + "/epsilon"});
    if (by_rsqrt) {
      text_.node(n + "/Rsqrt", "Rsqrt", {n + "/add"}).node(n + "/mul", "Mul", {n + "/Rsqrt", read[0]});
      text_.node(n + "/mul_1", "Mul", {input(node), n + "/mul"})
          .node(n + "/mul_2", "Mul", {read[2], n + "/mul"});
      text_.node(n + "/sub", "Sub", {read[1], n + "/mul_2"}).node(n, "AddV2", {n + "/mul_1", n + "/sub"});
    } else {
      text_.node(n + "/sqrt", "Sqrt", {n + "/add"}).node(n + "/centred", "Sub", {input(node), read[2]});
      text_.node(n + "/divided", "RealDiv", {n + "/centred", n + "/sqrt"});
      text_.node(n + "/scaled", "Mul", {n + "/divided", read[0]}).node(n, "Add", {n + "/scaled", read[1]});
    }
    result(node, n);
  }

  // The branch of training normalises by the batch.
  void write_switched(const Node& node, const std::vector<std::string>& read, float epsilon) {
    const std::string& n = node.name;
    text_.node(n + "/pred", "Identity", {"train_phase"});
    text_.node(n + "/Switch", "Switch", {input(node), n + "/pred"});
    text_.floats(n + "/none", {0}, {});
    text_.node(n + "/train", "FusedBatchNorm", {n + "/Switch:1", read[0], read[1], n + "/none", n + "/none"},
               fused_attributes(epsilon, true));
    text_.node(n + "/eval", "FusedBatchNorm", {n + "/Switch", read[0], read[1], read[2], read[3]},
               fused_attributes(epsilon, false));
    text_.node(n, "Merge", {n + "/eval", n + "/train"});
    result(node, n);
  }

  const Graph& graph_;
  Random random_;
  bool is_random_;
  GraphDefText text_;
  std::map<ValueId, std::string> tensor_;
  std::map<ValueId, Shape> flattened_;  // by the flat value: the shape it had
  int normalized_ = 0, padded_ = 0, biased_ = 0, dropped_ = 0;
};

}  // namespace

std::vector<std::byte> graphdef_twin(const Graph& graph, uint64_t seed) { return Twin(graph, seed).build(); }

Tensor channels_last(const Tensor& image) {
  const Shape& x = image.shape();
  if (x.rank() != 4) return image;
  Tensor result(image.type(), {x[0], x[2], x[3], x[1]});
  const int64_t pixels = x[2] * x[3];
  for (int64_t i = 0; i < image.size(); ++i) {
    const int64_t c = i / pixels % x[1], pixel = i % pixels, n = i / (pixels * x[1]);
    result.set_number((n * pixels + pixel) * x[1] + c, image.number_at(i));
  }
  return result;
}

}  // namespace tilewright
