// A constant is also one that is read through Identity, as variables are.
#include <algorithm>
#include <array>

#include "tilewright/frontend/tensorflow/tf_inference.h"

namespace tilewright {
namespace {

bool is_constant(const TfNode& node) {
  static constexpr std::array<const char*, 4> kOps = {"Const", "VariableV2", "Variable", "VarHandleOp"};
  return node.is_one_of(kOps);
}

bool reads_constant(const std::vector<TfNode>& nodes, TfRef ref) {
  for (int depth = 0; ref.node >= 0 && depth < 8; ++depth) {
    const TfNode& node = nodes[size_t(ref.node)];
    if (is_constant(node)) return true;
    if ((!node.is("Identity") && !node.is("ReadVariableOp")) || node.inputs.empty()) return false;
    ref = node.inputs[0];
  }
  return false;
}

bool names_moving_average(const std::string& name) {
  return name.find("moving_mean") != std::string::npos || name.find("moving_variance") != std::string::npos ||
         name.find("ExponentialMovingAverage") != std::string::npos;
}

}  // namespace

TfStage count_stage(const std::vector<TfNode>& nodes) {
  static constexpr std::array<const char*, 4> kRandom = {"RandomUniform", "RandomStandardNormal",
                                                         "TruncatedNormal", "StatelessRandomUniform"};
  static constexpr std::array<const char*, 3> kRsqrt = {"Rsqrt", "Sqrt", "Reciprocal"};
  static constexpr std::array<const char*, 3> kScale = {"Mul", "RealDiv", "Div"};
  TfStage stage;
  stage.nodes = int(nodes.size());
  for (const TfNode& node : nodes) {
    stage.constants += is_constant(node);
    stage.random += node.is_one_of(kRandom);
    stage.moving_averages += names_moving_average(node.name);
    stage.normalizations +=
        node.op.rfind("FusedBatchNorm", 0) == 0 || node.is("BatchNormWithGlobalNormalization");
    stage.rsqrts += node.is_one_of(kRsqrt);
    stage.scales +=
        node.is_one_of(kScale) && std::any_of(node.inputs.begin(), node.inputs.end(),
                                              [&](TfRef input) { return reads_constant(nodes, input); });
  }
  return stage;
}

}  // namespace tilewright
