// What a variable is for follows from its first reader that says so; reads of variables were forwarded
// before.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/tensorflow/tf_inference.h"
#include "tilewright/graph/lcg_weights.h"

namespace tilewright {
namespace {

std::optional<LcgRole> role_in(const TfNode& reader, size_t input) {
  const std::string& op = reader.op;
  if (op == "Conv2D" || op == "DepthwiseConv2dNative" || op == "Conv2DBackpropInput" || op == "MatMul" ||
      op == "BatchMatMul" || op == "BatchMatMulV2") {
    return input == 1 ? std::optional(LcgRole::kWeight) : std::nullopt;
  }
  if (op == "BiasAdd" || op == "Add" || op == "AddV2" || op == "Sub") return LcgRole::kShift;
  if (op == "Mul") return LcgRole::kScale;
  if (op.rfind("FusedBatchNorm", 0) == 0) {
    return input == 1 || input == 4 ? LcgRole::kScale : LcgRole::kShift;
  }
  if (op == "BatchNormWithGlobalNormalization") {
    return input == 2 || input == 4 ? LcgRole::kScale : LcgRole::kShift;
  }
  return std::nullopt;
}

std::optional<LcgRole> role_of(const TfNetwork& network, int variable) {
  for (const TfNode& reader : network.nodes) {
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i].node != variable) continue;
      if (const std::optional<LcgRole> role = role_in(reader, i)) return role;
    }
  }
  return std::nullopt;
}

class Filling {
 public:
  Filling(TfNetwork& network, const TensorflowOptions& options, Diagnostics& diagnostics)
      : network_(network), options_(options), diagnostics_(diagnostics) {}

  void run() {
    std::vector<int> variables;
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (is_variable(network_.nodes[i]) && !network_.nodes[i].is_reported) variables.push_back(int(i));
    }
    const auto place = [&](int node) { return network_.nodes[size_t(node)].place; };
    std::sort(variables.begin(), variables.end(), [&](int a, int b) { return place(a) < place(b); });
    for (size_t k = 0; k < variables.size(); ++k) fill(variables[k], k);
    if (!variables.empty() && options_.fill_gain <= 0 && options_.allow_missing_weights) {
      diagnostics_.warn(
          "graph", "",
          fmt::format("{} variables have no value in the file: random stand-ins are used", variables.size()));
    }
  }

 private:
  void fill(int index, size_t k) {
    TfNode& variable = network_.nodes[size_t(index)];
    const TfShape declared = variable.declared_shape();
    const auto type = element_type_of_tensorflow(variable.type_or("dtype", 1));
    const bool is_known = declared.has_rank && !std::count(declared.dims.begin(), declared.dims.end(), -1);
    if (!is_known || !type || !take_from_budget(Shape(declared.dims), *type)) {
      return error(variable, ErrorKind::kInvalidInput, "has no usable shape or type");
    }
    const Shape shape(declared.dims);
    if (options_.fill_gain <= 0 && !options_.allow_missing_weights) {
      return error(variable, ErrorKind::kInvalidInput, "has no value in the file",
                   "freeze the model, or draw weights with --fill-weights");
    }
    const std::optional<LcgRole> role = role_of(network_, index);
    if (role && *type == ElementType::kF32) {
      const double gain = options_.fill_gain > 0 ? options_.fill_gain : 1;
      variable.value = lcg_weight(shape, {*role, true}, gain, 1000 + k);
    } else if (options_.fill_gain > 0) {
      return error(variable, ErrorKind::kUnsupported, "cannot be filled: nothing reads it as a float weight");
    } else {
      variable.value = Tensor(*type, shape);
    }
    variable.op = "Const";
  }

  void error(TfNode& variable, ErrorKind kind, const std::string& message, const std::string& hint = {}) {
    variable.is_reported = true;
    diagnostics_.error(kind, tf_label(variable), variable.op, message, hint);
  }

  bool take_from_budget(const Shape& shape, ElementType type) {
    constexpr int64_t kMostBytes = int64_t{640} << 20;
    const auto fits = [&](int64_t size) { return size <= kMostBytes; };
    if (!std::all_of(shape.begin(), shape.end(), fits) || shape.rank() > 8) return false;
    double bytes = double(bit_width(type)) / 8;
    for (const int64_t size : shape) bytes *= double(size);
    taken_bytes_ += bytes;
    return taken_bytes_ <= double(kMostBytes);
  }

  TfNetwork& network_;
  const TensorflowOptions& options_;
  Diagnostics& diagnostics_;
  double taken_bytes_ = 0;
};

}  // namespace

bool is_variable(const TfNode& node) {
  return node.is("VariableV2") || node.is("Variable") || node.is("VarHandleOp") ||
         node.is("AutoReloadVariable");
}

void fill_variables(TfNetwork& network, const TensorflowOptions& options, Diagnostics& diagnostics) {
  Filling(network, options, diagnostics).run();
}

}  // namespace tilewright
