// Arithmetic, activations, comparisons and selection, element by element. Most operators have a twin; those
// converters read the twin's name from a table.
#include <fmt/format.h>

#include <map>

#include "tilewright/frontend/tensorflow/tf_operation.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

// Operators that differ in their name at most.
const std::map<std::string, const char*>& twins() {
  static const std::map<std::string, const char*> kTwins = {{"Abs", "Abs"},
                                                            {"Add", "Add"},
                                                            {"AddV2", "Add"},
                                                            {"Ceil", "Ceil"},
                                                            {"Cos", "Cos"},
                                                            {"Elu", "Elu"},
                                                            {"Equal", "Equal"},
                                                            {"Erf", "Erf"},
                                                            {"Exp", "Exp"},
                                                            {"Floor", "Floor"},
                                                            {"Greater", "Greater"},
                                                            {"GreaterEqual", "GreaterOrEqual"},
                                                            {"Inv", "Reciprocal"},
                                                            {"Less", "Less"},
                                                            {"LessEqual", "LessOrEqual"},
                                                            {"Log", "Log"},
                                                            {"LogSoftmax", "LogSoftmax"},
                                                            {"LogicalAnd", "And"},
                                                            {"LogicalNot", "Not"},
                                                            {"LogicalOr", "Or"},
                                                            {"Maximum", "Max"},
                                                            {"Minimum", "Min"},
                                                            {"Mul", "Mul"},
                                                            {"Neg", "Neg"},
                                                            {"Pow", "Pow"},
                                                            {"RealDiv", "Div"},
                                                            {"Reciprocal", "Reciprocal"},
                                                            {"Relu", "Relu"},
                                                            {"Round", "Round"},
                                                            {"Selu", "Selu"},
                                                            {"Sigmoid", "Sigmoid"},
                                                            {"Sign", "Sign"},
                                                            {"Sin", "Sin"},
                                                            {"Softmax", "Softmax"},
                                                            {"Softplus", "Softplus"},
                                                            {"Softsign", "Softsign"},
                                                            {"Sqrt", "Sqrt"},
                                                            {"Sub", "Sub"},
                                                            {"Tanh", "Tanh"}};
  return kTwins;
}

void convert_twin(TfOperation& operation) {
  std::vector<ValueId> inputs;
  for (int i = 0; i < operation.input_count(); ++i) inputs.push_back(operation.input(i));
  operation.output(0, operation.emit(twins().at(operation.node().op), inputs));
}

void convert_add_n(TfOperation& operation) {
  ValueId sum = operation.input(0);
  for (int i = 1; i < operation.input_count(); ++i) sum = operation.emit("Add", {sum, operation.input(i)});
  operation.output(0, sum);
}

ValueId bound(TfOperation& operation, const std::string& role, double value) {
  return operation.constant(role, float_scalar(operation.type(0), value));
}

void convert_relu6(TfOperation& operation) {
  const ValueId x = operation.input(0);
  operation.output(0, operation.emit("Clip", {x, bound(operation, "low", 0), bound(operation, "high", 6)}));
}

void convert_clip_by_value(TfOperation& operation) {
  operation.output(0, operation.emit("Clip", {operation.input(0), operation.input(1), operation.input(2)}));
}

void convert_leaky_relu(TfOperation& operation) {
  const float alpha = operation.node().float_or("alpha", 0.2f);
  operation.output(0, operation.emit("LeakyRelu", {operation.input(0)}, {{"alpha", alpha}}));
}

void convert_rsqrt(TfOperation& operation) {
  operation.output(0, operation.emit("Reciprocal", {operation.emit("Sqrt", {operation.input(0)})}));
}

void convert_square(TfOperation& operation) {
  operation.output(0, operation.emit("Mul", {operation.input(0), operation.input(0)}));
}

void convert_squared_difference(TfOperation& operation) {
  const ValueId difference = operation.emit("Sub", {operation.input(0), operation.input(1)});
  operation.output(0, operation.emit("Mul", {difference, difference}));
}

// Rounds towards minus infinity; the graph's division of integers rounds towards zero.
void convert_floor_div(TfOperation& operation) {
  const ValueId a = operation.input(0), b = operation.input(1);
  if (is_float(operation.type(0))) {
    return operation.output(0, operation.emit("Floor", {operation.emit("Div", {a, b})}));
  }
  const ValueId whole = operation.emit("Sub", {a, operation.emit("Mod", {a, b})});
  operation.output(0, operation.emit("Div", {whole, b}));
}

void convert_floor_mod(TfOperation& operation) {
  const ValueId a = operation.input(0), b = operation.input(1);
  if (!is_float(operation.type(0))) return operation.output(0, operation.emit("Mod", {a, b}));
  const ValueId quotient = operation.emit("Floor", {operation.emit("Div", {a, b})});
  operation.output(0, operation.emit("Sub", {a, operation.emit("Mul", {quotient, b})}));
}

void convert_not_equal(TfOperation& operation) {
  const ValueId equal = operation.emit("Equal", {operation.input(0), operation.input(1)});
  operation.output(0, operation.emit("Not", {equal}));
}

// Select chooses whole rows when its condition is a vector and its branches are not.
void convert_select(TfOperation& operation) {
  if (operation.node().is("Select") && operation.rank(0) == 1 && operation.rank(1) > 1) {
    unsupported("selects rows", "use SelectV2 with a condition of the branches' shape");
  }
  operation.output(0, operation.emit("Where", {operation.input(0), operation.input(1), operation.input(2)}));
}

void convert_tf_cast(TfOperation& operation) {
  const int code = operation.node().type_or("DstT", 0);
  const std::optional<ElementType> type = element_type_of_tensorflow(code);
  if (!type || !onnx_code_of(*type)) unsupported(fmt::format("casts to {}", tensorflow_type_name(code)));
  operation.output(0, operation.emit("Cast", {operation.input(0)}, {{"to", *onnx_code_of(*type)}}));
}

}  // namespace

std::vector<TfTableEntry> tf_elementwise_converters() {
  std::vector<TfTableEntry> table = {
      {"AccumulateNV2", convert_add_n},
      {"AddN", convert_add_n},
      {"Cast", convert_tf_cast},
      {"ClipByValue", convert_clip_by_value},
      {"FloorDiv", convert_floor_div},
      {"FloorMod", convert_floor_mod},
      {"LeakyRelu", convert_leaky_relu},
      {"NotEqual", convert_not_equal},
      {"Relu6", convert_relu6},
      {"Rsqrt", convert_rsqrt},
      {"Select", convert_select},
      {"SelectV2", convert_select},
      {"Square", convert_square},
      {"SquaredDifference", convert_squared_difference},
      // Of integers: towards zero.
      {"Div", [](TfOperation& operation) {
         operation.output(0, operation.emit("Div", {operation.input(0), operation.input(1)}));
       }}};
  for (const auto& [name, twin] : twins()) table.push_back({name.c_str(), convert_twin});
  return table;
}

}  // namespace tilewright
