// The lists, and an index over them that is made once.
#include "tilewright/graph/operator_class.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace tilewright {
namespace {

using Class = OperatorClass;
using Function = OperatorFunction;

// Names are separated by blanks.
struct ClassList {
  const char* domain;
  Class kind;
  std::string_view operators;
};

constexpr ClassList kClasses[] = {
    {"", Class::kProduct,
     "Conv ConvInteger ConvTranspose Gemm MatMul MatMulInteger QLinearConv QLinearMatMul"},
    {"", Class::kPool, "AveragePool GlobalAveragePool GlobalMaxPool MaxPool"},
    {"", Class::kElementwise,
     "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Clip Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish "
     "LeakyRelu Log Neg Not Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh "
     "ThresholdedRelu"},
    {"", Class::kBroadcast,
     "Add And BitShift Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow "
     "Sub Sum "
     "Where Xor"},
    {"", Class::kConversion, "Cast DequantizeLinear QuantizeLinear"},
    {"", Class::kReduction,
     "ArgMax ArgMin CumSum Det ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare TopK"},
    {"", Class::kNormalization,
     "BatchNormalization DynamicQuantizeLinear InstanceNormalization LRN LayerNormalization LogSoftmax "
     "RMSNormalization RotaryEmbedding Softmax"},
    {"", Class::kReshape, "Flatten Reshape Squeeze Unsqueeze"},
    {"", Class::kCopy, "Dropout Identity"},
    {"", Class::kMovement, "DepthToSpace Expand Gather Slice SpaceToDepth Split Tile Transpose"},
    {"", Class::kAssembly,
     "Concat GatherElements GridSample RoiAlign GatherND OneHot Pad Resize ScatterElements ScatterND Trilu"},
    {"", Class::kSource, "Constant ConstantOfShape EyeLike Range Shape Size"},
    {kTilewrightDomain, Class::kProduct, "QConv QConvTranspose QGemm QMatMul FixedConv FixedGemm"},
    {kTilewrightDomain, Class::kPool, "QAveragePool FixedAveragePool"},
    {kTilewrightDomain, Class::kElementwise, "QLookup QRequantize FixedLookup"},
    {kTilewrightDomain, Class::kBroadcast, "QAdd QMul QRescaledAdd FixedAdd"},
    {kTilewrightDomain, Class::kNormalization, "QLayerNorm QRotary QSoftmax"},
    {kTilewrightDomain, Class::kAssembly, "QCacheUpdate"},
    {kTilewrightDomain, Class::kConversion, "FixedDecode FixedEncode"},
};

struct FunctionList {
  const char* domain;
  Function function;
  std::string_view operators;
};

constexpr FunctionList kFunctions[] = {
    {"", Function::kConvolution, "Conv ConvInteger QLinearConv"},
    {"", Function::kTransposedConvolution, "ConvTranspose"},
    {"", Function::kDense, "Gemm"},
    {"", Function::kMatrixProduct, "MatMul MatMulInteger QLinearMatMul"},
    {"", Function::kAddition, "Add"},
    {"", Function::kAveragePool, "AveragePool GlobalAveragePool"},
    {"", Function::kMaxPool, "GlobalMaxPool MaxPool"},
    {"", Function::kClip, "Clip Relu"},
    {kTilewrightDomain, Function::kConvolution, "QConv FixedConv"},
    {kTilewrightDomain, Function::kTransposedConvolution, "QConvTranspose"},
    {kTilewrightDomain, Function::kDense, "QGemm FixedGemm"},
    {kTilewrightDomain, Function::kMatrixProduct, "QMatMul"},
    {kTilewrightDomain, Function::kAddition, "QAdd QRescaledAdd FixedAdd"},
    {kTilewrightDomain, Function::kMultiplication, "QMul"},
    {kTilewrightDomain, Function::kAveragePool, "QAveragePool FixedAveragePool"},
    {kTilewrightDomain, Function::kRequantize, "QRequantize"},
    {kTilewrightDomain, Function::kLookup, "QLookup FixedLookup"},
};

constexpr std::string_view kActivations =
    "Clip Elu HardSigmoid HardSwish LeakyRelu Relu Selu Sigmoid Softplus Softsign Tanh ThresholdedRelu";

void for_each_name(std::string_view names, const std::function<void(std::string_view)>& visit) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

using Index = std::map<std::pair<std::string_view, std::string_view>, OperatorTraits>;  // domain and name

Index make_index() {
  Index index;
  for (const ClassList& list : kClasses) {
    for_each_name(list.operators, [&](std::string_view name) {
      OperatorTraits& traits = index[{list.domain, name}];
      traits.kind = list.kind;
      if (list.domain[0] != '\0') {
        traits.numbers = name.starts_with("Fixed") ? OperatorNumbers::kFixed : OperatorNumbers::kInteger;
      }
    });
  }
  for (const FunctionList& list : kFunctions) {
    for_each_name(list.operators, [&](std::string_view name) {
      index.at({list.domain, name}).function = list.function;
    });
  }
  for_each_name(kActivations, [&](std::string_view name) { index.at({"", name}).activation = true; });
  return index;
}

}  // namespace

const OperatorTraits& operator_traits(const Node& node) {
  static const Index kIndex = make_index();
  static const OperatorTraits kNotCovered;
  const auto found = kIndex.find({node.domain, node.op});
  return found == kIndex.end() ? kNotCovered : found->second;
}

bool only_selects(const Node& node) {
  const OperatorTraits& traits = operator_traits(node);
  return traits.kind == Class::kReshape || traits.kind == Class::kCopy || traits.kind == Class::kMovement ||
         traits.function == Function::kMaxPool;
}

int table_input(const Node& node) {
  const OperatorTraits& traits = operator_traits(node);
  if (traits.numbers != OperatorNumbers::kInteger || !has_output_stage(node)) return -1;
  if (traits.kind == Class::kNormalization || traits.function == Function::kMatrixProduct) return -1;
  if (traits.kind == Class::kProduct) return 5;
  return traits.kind == Class::kBroadcast ? 2 : 1;
}

ElementType output_type(const Node& node) {
  return node.int_or("output_bits", 8) == 16 ? ElementType::kI16 : ElementType::kI8;
}

bool has_output_stage(const Node& node) {
  const OperatorTraits& traits = operator_traits(node);
  const bool computes = traits.function != Function::kOther || traits.kind == Class::kNormalization;
  return traits.numbers != OperatorNumbers::kAny && computes && traits.function != Function::kLookup;
}

}  // namespace tilewright
