#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "model/own_networks/own_networks.h"
#include "support/frontend/tflite_builder_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/tensor/layout.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

std::vector<int32_t> last(const Shape& shape) {
  std::vector<int32_t> dims(shape.begin(), shape.end());
  if (dims.size() == 4) dims = {dims[0], dims[2], dims[3], dims[1]};
  return dims;
}

class Twin {
 public:
  explicit Twin(const Graph& graph) : graph_(graph) {}

  std::vector<std::byte> build() {
    for (const Node& node : graph_.nodes) {
      if (node.is("QuantizeLinear")) {
        quantized(node);
      } else if (node.is("DequantizeLinear")) {
        if (!graph_.is_constant(node.input(0))) tensor_[node.outputs[0]] = tensor_.at(node.input(0));
      } else {
        made_by_[node.outputs[0]] = &node;
      }
    }
    for (const ValueId output : graph_.outputs) file_.graph().outputs.push_back(tensor_.at(output));
    return file_.build();
  }

 private:
  struct Scale {
    std::vector<float> scales;
    std::vector<int64_t> zero_points;
  };
  Scale scale_of(const Node& node) const {
    const Tensor &scale = *graph_.constant_input(node, 1), &zero = *graph_.constant_input(node, 2);
    Scale found;
    for (int64_t i = 0; i < scale.size(); ++i) {
      found.scales.push_back(float(scale.number_at(i)));
      found.zero_points.push_back(zero.integer_at(zero.size() == 1 ? 0 : i));
    }
    return found;
  }
  // The DequantizeLinear of a constant.
  const Node& source_of(ValueId id) const {
    const NodeId producer = graph_.producers()[size_t(id)];
    TILEWRIGHT_CHECK(producer != kNoNode, "the twin needs quantised weights");
    return graph_.nodes[size_t(producer)];
  }
  int add(const std::string& name, const std::vector<int32_t>& dims, const Scale& scale) {
    const int tensor = file_.add(name, ElementType::kI8, dims);
    file_.quantize(tensor, scale.scales, scale.zero_points);
    return tensor;
  }
  int constant(const std::string& name, const Tensor& integers, const Scale& scale) {
    const int tensor = file_.constant(name, integers);
    file_.quantize(tensor, scale.scales, scale.zero_points);
    return tensor;
  }

  // Whatever computes the value that `node` quantises ends here, as one operator.
  void quantized(const Node& node) {
    const Value& value = graph_.value(node.input(0));
    const Scale scale = scale_of(node);
    const int tensor = add(value.name, last(value.shape), scale);
    tensor_[node.outputs[0]] = tensor;
    const auto found = made_by_.find(node.input(0));
    if (found == made_by_.end()) {
      file_.graph().inputs.push_back(tensor);
      return;
    }
    const Node* maker = found->second;
    const schema::ActivationFunctionType activation = activation_of(*maker);
    if (activation != schema::ActivationFunctionType_NONE) maker = made_by_.at(maker->input(0));
    write(*maker, tensor, scale, activation);
  }

  schema::ActivationFunctionType activation_of(const Node& node) const {
    if (node.is("Relu")) return schema::ActivationFunctionType_RELU;
    if (!node.is("Clip")) return schema::ActivationFunctionType_NONE;
    const Tensor *least = graph_.constant_input(node, 1), *most = graph_.constant_input(node, 2);
    TILEWRIGHT_CHECK(least && most && least->number_at(0) == 0 && most->number_at(0) == 6,
                     "the twin clips to 0..6");
    return schema::ActivationFunctionType_RELU6;
  }

  int padded(int input, const Node& node) {
    const std::vector<int64_t> pads = node.ints_or("pads", {0, 0, 0, 0});
    if (pads == std::vector<int64_t>{0, 0, 0, 0}) return input;
    std::vector<int32_t> dims = file_.tensor(input).shape;
    dims[1] += int32_t(pads[0] + pads[2]);
    dims[2] += int32_t(pads[1] + pads[3]);
    const schema::QuantizationParametersT& form = *file_.tensor(input).quantization;
    const int output = add(node.name + "/padded", dims, {form.scale, form.zero_point});
    const Tensor amounts = Tensor::of<int32_t>(
        {4, 2}, {0, 0, int32_t(pads[0]), int32_t(pads[2]), int32_t(pads[1]), int32_t(pads[3]), 0, 0});
    file_.op(Op::BuiltinOperator_PAD, {input, file_.constant(node.name + "/pads", amounts)}, {output});
    return output;
  }

  // Weights in the file's layout, and the bias in units of their products.
  std::vector<int> layer(const Node& node, int input, const std::vector<int>& order, bool from_columns) {
    const Node& weights = source_of(node.input(1));
    Tensor integers = *graph_.constant_input(weights, 0);
    if (from_columns) integers = permute(integers, {1, 0});
    if (!order.empty()) integers = permute(integers, order);
    const Scale scale = scale_of(weights);
    std::vector<int> inputs = {input, constant(node.name + "/weights", integers, scale)};
    file_.tensor(inputs[1]).quantization->quantized_dimension = !order.empty() && order[0] == 1 ? 3 : 0;
    if (node.has_input(2)) {
      const Node& bias = source_of(node.input(2));
      inputs.push_back(constant(node.name + "/bias", *graph_.constant_input(bias, 0), scale_of(bias)));
    }
    return inputs;
  }

  void write(const Node& node, int output, const Scale& scale, schema::ActivationFunctionType activation) {
    const int input = input_of(node.input(0));
    const std::vector<int64_t> strides = node.ints_or("strides", {1, 1});
    if (node.is("Conv")) {
      const Shape& shape = graph_.value(node.input(1)).shape;
      const int64_t groups = node.int_or("group", 1);
      const auto fill = [&](auto options) {
        options.padding = schema::Padding_VALID;
        options.stride_h = int(strides[0]);
        options.stride_w = int(strides[1]);
        options.fused_activation_function = activation;
        return options;
      };
      if (groups == 1) {
        file_.op(Op::BuiltinOperator_CONV_2D, layer(node, padded(input, node), {0, 2, 3, 1}, false), {output},
                 fill(schema::Conv2DOptionsT()));
      } else {
        TILEWRIGHT_CHECK(groups == shape[0] && shape[1] == 1, "the twin has no other groups");
        schema::DepthwiseConv2DOptionsT options;
        options.depth_multiplier = 1;
        file_.op(Op::BuiltinOperator_DEPTHWISE_CONV_2D, layer(node, padded(input, node), {1, 2, 3, 0}, false),
                 {output}, fill(options));
      }
    } else if (node.is("Add")) {
      schema::AddOptionsT options;
      options.fused_activation_function = activation;
      file_.op(Op::BuiltinOperator_ADD, {input, input_of(node.input(1))}, {output}, options);
    } else if (node.is("Gemm") || node.is("MatMul")) {
      schema::FullyConnectedOptionsT options;
      options.fused_activation_function = activation;
      const bool from_columns = node.is("MatMul") || node.int_or("transB", 0) == 0;
      file_.op(Op::BuiltinOperator_FULLY_CONNECTED, layer(node, input, {}, from_columns), {output}, options);
    } else if (node.is("MaxPool") || node.is("GlobalAveragePool")) {
      const bool average = node.is("GlobalAveragePool");
      const Shape& shape = graph_.value(node.input(0)).shape;
      const std::vector<int64_t> kernel =
          average ? std::vector<int64_t>{shape[2], shape[3]} : node.ints_or("kernel_shape", {1, 1});
      schema::Pool2DOptionsT options;
      options.padding = schema::Padding_VALID;
      options.filter_height = int(kernel[0]);
      options.filter_width = int(kernel[1]);
      options.stride_h = int(strides[0]);
      options.stride_w = int(strides[1]);
      options.fused_activation_function = activation;
      TILEWRIGHT_CHECK(node.ints_or("pads", {0, 0, 0, 0}) == std::vector<int64_t>(4, 0),
                       "the twin pads no pools");
      file_.op(average ? Op::BuiltinOperator_AVERAGE_POOL_2D : Op::BuiltinOperator_MAX_POOL_2D, {input},
               {output}, options);
    } else {
      TILEWRIGHT_CHECK(node.is("Flatten") || node.is("Reshape"), fmt::format("the twin has no {}", node.op));
      reshape(input, output, scale);
    }
  }

  // Flattening counts channels first: the file moves them in front of it.
  void reshape(int input, int output, const Scale& scale) {
    const std::vector<int32_t> dims = file_.tensor(input).shape;
    if (dims.size() == 4 && dims[1] * dims[2] > 1) {
      const int moved =
          add(file_.tensor(input).name + "/channels_first", {dims[0], dims[3], dims[1], dims[2]}, scale);
      const int order = file_.integers(file_.tensor(input).name + "/order", {0, 3, 1, 2});
      file_.op(Op::BuiltinOperator_TRANSPOSE, {input, order}, {moved});
      input = moved;
    }
    schema::ReshapeOptionsT options;
    options.new_shape = file_.tensor(output).shape;
    file_.op(Op::BuiltinOperator_RESHAPE,
             {input, file_.integers(file_.tensor(output).name + "/shape", options.new_shape)}, {output},
             options);
  }

  // What is not quantised again on the way: flattening between two layers.
  int input_of(ValueId id) {
    if (const auto found = tensor_.find(id); found != tensor_.end()) return found->second;
    const Node& maker = *made_by_.at(id);
    const int input = input_of(maker.input(0));
    const schema::QuantizationParametersT& form = *file_.tensor(input).quantization;
    const Scale scale{form.scale, form.zero_point};
    const int output = add(graph_.value(id).name, last(graph_.value(id).shape), scale);
    write(maker, output, scale, schema::ActivationFunctionType_NONE);
    return tensor_[id] = output;
  }

  const Graph& graph_;
  TfliteBuilder file_;
  std::map<ValueId, int> tensor_;
  std::map<ValueId, const Node*> made_by_;
};

}  // namespace

std::vector<std::byte> tflite_twin(const Graph& qdq) { return Twin(qdq).build(); }

}  // namespace tilewright
