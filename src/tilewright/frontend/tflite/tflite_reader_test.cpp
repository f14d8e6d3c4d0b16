// What the reader says about files that are damaged, malformed or not covered: one test per message.
#include "tilewright/frontend/tflite/tflite_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <limits>

#include "support/frontend/tflite_builder_testing.h"
#include "tilewright/frontend/tflite/tflite_lowering.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

std::string error_of(const std::vector<std::byte>& bytes, const TfliteOptions& options = {}) {
  try {
    parse_tflite(bytes, options);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    return error.what();
  }
  return "no error";
}

void expect_error(const TfliteBuilder& model, const std::string& part, const TfliteOptions& options = {}) {
  const std::string message = error_of(model.build(), options);
  EXPECT_NE(message.find(part), std::string::npos) << "instead of: " << part << "\n" << message;
}

// Two tensors "x" and "y" of `shape`, input and output.
struct Pair : TfliteBuilder {
  explicit Pair(const std::vector<int32_t>& shape = {1, 4, 4, 2}, ElementType type = ElementType::kF32)
      : x(input("x", shape, type)), y(output("y", shape, type)) {}
  int x, y;
};

schema::Conv2DOptionsT stride_1() {
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  return options;
}

// A 1x1 convolution from 2 to 2 channels; `weights` is its filter.
struct Convolution : Pair {
  Convolution() { weights = constant("w", Tensor(ElementType::kF32, {2, 1, 1, 2})); }
  Convolution& finish(schema::Conv2DOptionsT options = stride_1(), int bias = -1) {
    op(Op::BuiltinOperator_CONV_2D, {x, weights, bias}, {y}, options);
    return *this;
  }
  int weights;
};

TEST(TfliteReader, FilesThatAreNone) {
  EXPECT_FALSE(is_tflite({}));
  EXPECT_NE(error_of({}).find("is not a TFLite file: the identifier 'TFL3' is not at byte 4"),
            std::string::npos);
  EXPECT_NE(error_of(std::vector<std::byte>(100)).find("is not a TFLite file"), std::string::npos);
}

// After the tensor that they make, then by what they do; a second of a kind gets a number.
TEST(TfliteReader, NodesAndValuesHaveNames) {
  const Graph graph = parse_tflite(Convolution().finish().build());
  std::vector<std::string> nodes, values;
  for (const Node& node : graph.nodes) nodes.push_back(node.name);
  for (const Value& value : graph.values) values.push_back(value.name);
  EXPECT_EQ(nodes, (std::vector<std::string>{"y/Transpose", "y/Conv", "y/Transpose_1"}));
  EXPECT_EQ(values, (std::vector<std::string>{"x", "y/weights", "y/Transpose", "y/channels_first", "y"}));
}

// One pixel of one channel is the same in both layouts.
TEST(TfliteReader, OutputsKeepTheirNamesInEveryShape) {
  for (const std::vector<int32_t>& shape : std::vector<std::vector<int32_t>>{
           {1, 1, 1, 2}, {1, 1, 1, 1}, {3, 1, 1, 1}, {1, 2, 2, 1}, {1, 2, 1, 2}}) {
    Pair model(shape);
    const int w = model.constant("w", Tensor(ElementType::kF32, {shape[3], 1, 1, shape[3]}));
    model.op(Op::BuiltinOperator_CONV_2D, {model.x, w, -1}, {model.y}, stride_1());
    const Graph graph = parse_tflite(model.build());
    EXPECT_EQ(graph.value(graph.outputs.at(0)).name, "y");
  }
}

TEST(TfliteReader, NamesMustBeUtf8) {
  Pair tensor;
  tensor.op(Op::BuiltinOperator_RELU, {tensor.x}, {tensor.y});
  tensor.tensor(tensor.y).name = "y\xff";
  tensor.graph().name = "g\x80";
  expect_error(tensor, "tensor 'y\\xff': its name is not UTF-8; rename it in the exporting program");
  expect_error(tensor, "graph 'g\\x80': its name is not UTF-8");
  Pair custom;
  custom.op(Op::BuiltinOperator_CUSTOM, {custom.x}, {custom.y});
  custom.model.operator_codes[0]->custom_code = "\xc0\x80";
  expect_error(custom, "operator '\\xc0\\x80': its name is not UTF-8");
}

TEST(TfliteReader, ConstantsMayBeEmpty) {
  TfliteBuilder model;
  const int x = model.input("x", {1, 1}), y = model.output("y", {}), shape = model.integers("shape", {});
  model.op(Op::BuiltinOperator_RESHAPE, {x, shape}, {y}, schema::ReshapeOptionsT());
  const Graph graph = parse_tflite(model.build());
  EXPECT_EQ(graph.value(graph.outputs.at(0)).shape, Shape{});
  // What an operator computes is not constant, although it has no elements either, in a buffer of its own.
  Pair computed({0});
  computed.model.buffers.push_back(std::make_unique<schema::BufferT>());
  computed.tensor(computed.x).buffer = computed.tensor(computed.y).buffer = 1;
  computed.op(Op::BuiltinOperator_RELU, {computed.x}, {computed.y});
  EXPECT_EQ(error_of(computed.build()), "no error");
}

// A model of `count` tensors that nobody reads; all have the same shape, scales and name.
std::vector<std::byte> sharing(int count, int axes, int scales, int letters) {
  flatbuffers::FlatBufferBuilder builder;
  const auto shape = builder.CreateVector(std::vector<int32_t>(size_t(axes), 1));
  const auto quantization = schema::CreateQuantizationParameters(
      builder, 0, 0, builder.CreateVector(std::vector<float>(size_t(scales), 1)));
  const auto name = builder.CreateString(std::string(size_t(letters), 'n'));
  const auto tensor = [&](auto tensor_shape, auto tensor_name) {
    schema::TensorBuilder made(builder);
    made.add_shape(tensor_shape);
    made.add_name(tensor_name);
    made.add_quantization(quantization);
    return made.Finish();
  };
  const auto own_shape = builder.CreateVector(std::vector<int32_t>{4});
  const auto own_name = builder.CreateString("x");
  std::vector<flatbuffers::Offset<schema::Tensor>> tensors = {tensor(own_shape, own_name)};
  for (int i = 0; i < count; ++i) tensors.push_back(tensor(shape, name));
  const auto all = builder.CreateVector(tensors);
  const auto first = builder.CreateVector(std::vector<int32_t>{0});
  schema::SubGraphBuilder graph(builder);
  graph.add_tensors(all);
  graph.add_inputs(first);
  graph.add_outputs(first);
  const auto graphs =
      builder.CreateVector(std::vector<flatbuffers::Offset<schema::SubGraph>>{graph.Finish()});
  schema::ModelBuilder model(builder);
  model.add_version(3);
  model.add_subgraphs(graphs);
  schema::FinishModelBuffer(builder, model.Finish());
  const auto* bytes = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {bytes, bytes + builder.GetSize()};
}

TEST(TfliteReader, SharedListsTakeNoMoreThanSeveralTimesTheFile) {
  const std::string message =
      "takes the model to over 8 times as many bytes as its file has; the file is damaged";
  EXPECT_EQ(error_of(sharing(20, 4, 1, 10)), "no error");
  EXPECT_EQ(error_of(sharing(20, 1000, 1, 1000)).find(message), std::string::npos);
  EXPECT_NE(error_of(sharing(50, 1, 10000, 1)).find(message), std::string::npos);
  EXPECT_NE(error_of(sharing(50, 1, 1, 10000)).find(message), std::string::npos);
  EXPECT_EQ(error_of(sharing(50, 10000, 1, 1)), "no error");  // nobody reads them
  Pair deep(std::vector<int32_t>(33, 1));
  deep.op(Op::BuiltinOperator_RELU, {deep.x}, {deep.y});
  expect_error(deep, "input 'x': has more than 32 axes");
}

TEST(TfliteReader, MoreThanTwoGigabytes) {
  const size_t size = size_t{1} << 31;
  void* const room =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  std::memcpy(static_cast<char*>(room) + 4, "TFL3", 4);
  std::string message;
  try {
    parse_tflite({static_cast<const std::byte*>(room), size});
  } catch (const Error& error) {
    message = error.what();
  }
  ::munmap(room, size);
  EXPECT_EQ(message, "is larger than 2 GiB; TFLite's offsets do not reach further");
}

TEST(TfliteReader, TruncatedAnywhere) {
  const std::vector<std::byte> bytes = Convolution().finish().build();
  ASSERT_TRUE(is_tflite(bytes));
  EXPECT_EQ(error_of(bytes), "no error");
  for (size_t size = 8; size < bytes.size(); ++size) {
    const std::string message = error_of({bytes.begin(), bytes.begin() + std::ptrdiff_t(size)});
    EXPECT_NE(message.find("is cut off or damaged: the structure of its"), std::string::npos) << message;
  }
}

TEST(TfliteReader, BytesAtOddAddresses) {
  const std::vector<std::byte> bytes = Convolution().finish().build();
  std::vector<std::byte> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  EXPECT_EQ(parse_tflite(std::span(shifted).subspan(1)).nodes.size(), parse_tflite(bytes).nodes.size());
}

// The list of zero points moved on by half a number, so that it begins where no 8-byte number may.
TEST(TfliteReader, ListsAtOddAddresses) {
  Pair model({1, 4, 4, 2}, ElementType::kI8);
  model.quantize(model.x, {0.5f}, {1, 7}).quantize(model.y, {1}, {0});
  model.op(Op::BuiltinOperator_RELU, {model.x}, {model.y});
  std::vector<std::byte> bytes = model.build();
  const schema::QuantizationParameters* quantization =
      schema::GetModel(bytes.data())->subgraphs()->Get(0)->tensors()->Get(0)->quantization();
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(quantization);
  auto* offset = const_cast<uint8_t*>(table->GetAddressOf(schema::QuantizationParameters::VT_ZERO_POINT));
  flatbuffers::WriteScalar(offset, flatbuffers::ReadScalar<uint32_t>(offset) + 4);
  // Its length is now the first number, its only number made of the halves of both: 7 * 2^32.
  EXPECT_NE(error_of(bytes).find("tensor 'x' has the zero point 30064771072"), std::string::npos)
      << error_of(bytes);
}

TEST(TfliteReader, TheModelAsAWhole) {
  Convolution version;
  version.finish().model.version = 2;
  expect_error(version, "is of format version 2; version 3 is supported");
  Convolution two;
  two.finish().model.subgraphs.push_back(std::make_unique<schema::SubGraphT>());
  expect_error(two, "has 2 subgraphs; only one is supported");
  TfliteBuilder none;
  none.model.subgraphs.clear();
  expect_error(none, "model: has no subgraph");
  Convolution silent;
  silent.finish().graph().outputs.clear();
  expect_error(silent, "model: has no outputs");
  Convolution unknown;
  unknown.finish().graph().inputs.push_back(99);
  expect_error(unknown, "model: names tensor 99 as input, but there are 3 tensors");
  Convolution twice;
  twice.finish().graph().inputs.push_back(0);
  expect_error(twice, "input 'x': is listed twice");
  Convolution written;
  written.graph().inputs.push_back(written.weights);
  expect_error(written.finish(), "input 'w': has constant data");
  Convolution unwritten;
  unwritten.finish().output("z", {1});
  expect_error(unwritten, "output 'z': is written by no operator");
  Convolution text;
  text.finish().tensor(0).type = schema::TensorType_STRING;
  expect_error(text, "input 'x': has the type STRING");
  Convolution huge;
  huge.finish().tensor(0).shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
  expect_error(huge, "input 'x':");
  Convolution negative;
  negative.finish().tensor(0).shape = {1, -4, 4, 2};
  expect_error(negative, "input 'x': has the negative size -4");
}

TEST(TfliteReader, DynamicDimensions) {
  Convolution fixed;
  TfliteOptions batch;
  batch.dimensions["x.0"] = 2;
  expect_error(fixed.finish(),
               "dimension 'x.0': is not a dynamic dimension of the model; the model has no dynamic", batch);
  Convolution open;
  open.finish().tensor(0).shape_signature = {-1, 4, 4, 2};
  TfliteOptions other;
  other.dimensions["z.0"] = 2;
  expect_error(open, "dimension 'z.0': is not a dynamic dimension of the model; dynamic are x.0", other);
  TfliteOptions zero;
  zero.dimensions["x.0"] = 0;
  expect_error(open, "dimension 'x.0': cannot be 0", zero);
}

TEST(TfliteReader, Constants) {
  Convolution small;
  small.finish().model.buffers[1]->data.resize(15);
  expect_error(small, "tensor 'w': holds 15 bytes, but 2x1x1x2 FLOAT32 need 16");
  Convolution missing;
  missing.finish().tensor(missing.weights).buffer = 7;
  expect_error(missing, "tensor 'w': names buffer 7, but there are 2");
  Convolution outside;
  outside.finish().model.buffers[1]->data.clear();
  outside.model.buffers[1]->offset = 1 << 20;
  outside.model.buffers[1]->size = 16;
  expect_error(outside, "tensor 'w': has its data beyond the end of the file");
  Convolution sparse;
  sparse.finish().tensor(sparse.weights).sparsity = std::make_unique<schema::SparsityParametersT>();
  expect_error(sparse, "operator 0 ('y') (CONV_2D): reads tensor 'w', which is sparse");
  Convolution variable;
  variable.finish().tensor(variable.weights).is_variable = true;
  expect_error(
      variable,
      "reads tensor 'w', a variable that keeps its value from run to run; only recurrent operators may");
  Convolution own;
  own.finish().quantize(own.weights, {1}, {0});
  own.tensor(own.weights).quantization->details_type = 1;
  expect_error(own, "reads tensor 'w', which is quantised by a custom method");
  // Every tensor the whole of one buffer: more memory than the file has.
  Pair many({1});
  const Tensor large(ElementType::kF32, {1 << 16});
  const int first = many.constant("first", large);
  for (int i = 0; i < 40; ++i) {
    many.tensor(many.add("copy", ElementType::kF32, {1 << 16})).buffer = many.tensor(first).buffer;
  }
  many.op(Op::BuiltinOperator_RELU, {many.x}, {many.y});
  expect_error(many, "as many bytes as its file has");
}

TEST(TfliteReader, OperatorsAndTheirOrder) {
  Convolution code;
  code.finish().graph().operators[0]->opcode_index = 5;
  expect_error(code, "operator 0: names operator code 5, but there are 1");
  Convolution input;
  input.finish().graph().operators[0]->inputs[0] = 12;
  expect_error(input, "operator 0: names tensor 12 as input, but there are 3 tensors");
  Convolution output;
  output.finish().graph().operators[0]->outputs[0] = -1;
  expect_error(output, "operator 0: names tensor -1 as output");
  Convolution twice;
  twice.finish().finish();
  expect_error(twice, "operator 1 ('y') (CONV_2D): writes tensor 'y', which has a value already");
  Convolution constant;
  constant.op(Op::BuiltinOperator_RELU, {constant.x}, {constant.weights});
  expect_error(constant.finish(), "writes tensor 'w', which is constant");
  Convolution early;
  const int late = early.add("late", ElementType::kF32, {1, 4, 4, 2});
  early.op(Op::BuiltinOperator_RELU, {late}, {early.y});
  expect_error(
      early,
      "reads tensor 'late', which is not constant and was not written before; operators must be listed");
}

TEST(TfliteReader, AllOperatorsThatAreNotCoveredInOneRun) {
  Pair model;
  const int a = model.add("a", ElementType::kF32, {1, 4, 4, 2}), b = model.add("b", ElementType::kF32, {1});
  model.op(Op::BuiltinOperator_HASHTABLE_LOOKUP, {model.x}, {a});
  model.op(Op::BuiltinOperator_WHILE, {a}, {b});
  model.op(Op::BuiltinOperator_CUSTOM, {b}, {model.y});
  model.model.operator_codes[2]->custom_code = "MyDetector";
  const std::string message = error_of(model.build());
  for (const char* part :
       {"3 problems", "operator 0 ('a') (HASHTABLE_LOOKUP): is not supported; docs/reference/tflite.md lists",
        "operator 1 ('b') (WHILE): is not supported",
        "operator 2 ('y') (MyDetector): is a custom operator"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  Pair unknown;
  unknown.op(Op(4711), {unknown.x}, {unknown.y});
  expect_error(unknown, "(operator number 4711): is not supported");
}

TEST(TfliteReader, ArityAndOptions) {
  Pair few;
  few.op(Op::BuiltinOperator_ADD, {few.x, -1}, {few.y});
  expect_error(few, "(ADD): needs 2 inputs, but input 1 is absent");
  Pair none;
  none.op(Op::BuiltinOperator_RELU, {none.x}, {});
  expect_error(none, "operator 0 (RELU): needs 1 outputs, but has 0");
  Convolution bare;
  bare.op(Op::BuiltinOperator_CONV_2D, {bare.x, bare.weights}, {bare.y});
  expect_error(bare, "(CONV_2D): has no options");
  Convolution foreign;
  foreign.op(Op::BuiltinOperator_CONV_2D, {foreign.x, foreign.weights}, {foreign.y},
             schema::Pool2DOptionsT());
  expect_error(foreign, "(CONV_2D): has no options");
  schema::Conv2DOptionsT options = stride_1();
  options.fused_activation_function = schema::ActivationFunctionType_SIGN_BIT;
  expect_error(Convolution().finish(options), "has a fused activation that is not supported");
  options = stride_1();
  options.stride_w = 0;
  expect_error(Convolution().finish(options), "has a stride, dilation or window of 0");
}

TEST(TfliteReader, TypesAndShapesThatDoNotFit) {
  Convolution rank;
  rank.tensor(rank.weights).shape = {2, 2};
  expect_error(rank.finish(), "its filter is 2x2 instead of rank 4");
  Convolution channels;
  channels.tensor(channels.weights).shape = {1, 1, 1, 4};
  expect_error(channels.finish(), "its filter has 4 input channels, its input 2");
  Convolution declared;
  declared.tensor(declared.y).shape = {1, 3, 4, 2};
  expect_error(declared.finish(), "gives 1x4x4x2, but tensor 'y' is declared as 1x3x4x2");
  Convolution type;
  type.tensor(type.y).type = schema::TensorType_INT32;
  expect_error(type.finish(), "gives f32, but tensor 'y' is declared as INT32");
  Convolution bias;
  const int three = bias.constant("b", Tensor(ElementType::kF32, {3}));
  expect_error(bias.finish(stride_1(), three), "tensor 'b' is not a bias of 2 numbers: it is 3");
  Convolution integer;
  const int two = integer.constant("b", Tensor(ElementType::kI32, {2}));
  expect_error(integer.finish(stride_1(), two),
               "has tensor 'b' as integer bias without quantised input and weights");
  Pair depthwise;
  const int filter = depthwise.constant("w", Tensor(ElementType::kF32, {1, 1, 1, 3}));
  schema::DepthwiseConv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  depthwise.op(Op::BuiltinOperator_DEPTHWISE_CONV_2D, {depthwise.x, filter}, {depthwise.y}, options);
  expect_error(depthwise, "its filter 1x1x1x3 does not fit 2 input channels");
  Pair dense({1, 6});
  const int matrix = dense.constant("w", Tensor(ElementType::kF32, {2, 4}));
  schema::FullyConnectedOptionsT plain;
  dense.op(Op::BuiltinOperator_FULLY_CONNECTED, {dense.x, matrix}, {dense.y}, plain);
  expect_error(dense, "its weights 2x4 do not fit its input 1x6");
  Pair shuffled({1, 6});
  const int square = shuffled.constant("w", Tensor(ElementType::kF32, {6, 6}));
  plain.weights_format = 1;
  shuffled.op(Op::BuiltinOperator_FULLY_CONNECTED, {shuffled.x, square}, {shuffled.y}, plain);
  expect_error(shuffled, "has its weights in the shuffled format");
}

TEST(TfliteReader, Quantisation) {
  const auto quantized = [](const std::vector<float>& scales, const std::vector<int64_t>& zeros, int axis) {
    Pair model({1, 4, 4, 2}, ElementType::kI8);
    model.quantize(model.x, scales, zeros, axis).quantize(model.y, {1}, {0});
    model.op(Op::BuiltinOperator_RELU, {model.x}, {model.y});
    return model;
  };
  EXPECT_EQ(error_of(quantized({0.5f}, {3}, 0).build()), "no error");
  EXPECT_EQ(error_of(quantized({0.5f}, {}, 0).build()), "no error");
  expect_error(quantized({0}, {0}, 0), "tensor 'x' has the scale 0");
  expect_error(quantized({std::numeric_limits<float>::infinity()}, {0}, 0), "tensor 'x' has the scale inf");
  expect_error(quantized({1}, {300}, 0), "tensor 'x' has the zero point 300, which does not fit i8");
  expect_error(quantized({1, 2}, {1, 2, 3}, 3), "tensor 'x' has 2 scales but 3 zero points");
  expect_error(quantized({1, 2}, {0, 0}, 1), "tensor 'x' has 2 scales along axis 1 of 1x4x4x2");
  expect_error(quantized({1, 2}, {0, 0}, 3), "reads tensor 'x', an activation with several scales");
  Pair plain({1, 4, 4, 2}, ElementType::kI8);
  plain.op(Op::BuiltinOperator_RELU, {plain.x}, {plain.y});
  expect_error(plain, "reads tensor 'x' as real numbers, but it holds INT8 without a scale");
  Pair wide;
  wide.tensor(wide.y).type = schema::TensorType_INT32;
  wide.quantize(wide.y, {1}, {0});
  wide.op(Op::BuiltinOperator_QUANTIZE, {wide.x}, {wide.y});
  expect_error(wide, "writes tensor 'y', an activation of INT32 with 1 scales; INT8, UINT8 and INT16");
  Pair unscaled;
  unscaled.op(Op::BuiltinOperator_QUANTIZE, {unscaled.x}, {unscaled.y});
  expect_error(unscaled, "(QUANTIZE): tensor 'y' has no scale");
  Convolution weights;
  weights.tensor(weights.weights).type = schema::TensorType_INT32;
  expect_error(weights.finish(), "tensor 'w' holds INT32 without a scale");
}

// An int8 convolution with a bias under this quantisation.
TfliteBuilder biased(const std::vector<float>& scales, int axis) {
  Pair model({1, 4, 4, 2}, ElementType::kI8);
  model.quantize(model.x, {0.5f}, {0}).quantize(model.y, {1}, {0});
  const int w = model.constant("w", Tensor(ElementType::kI8, {2, 1, 1, 2}));
  const int b = model.constant("b", Tensor(ElementType::kI32, {2}));
  model.quantize(w, {0.25f, 0.5f}, {0, 0}).quantize(b, scales, {}, axis);
  model.op(Op::BuiltinOperator_CONV_2D, {model.x, w, b}, {model.y}, stride_1());
  return std::move(static_cast<TfliteBuilder&>(model));
}

TEST(TfliteReader, BiasesAreToleratedWithAWarning) {
  const auto warnings_of = [](const TfliteBuilder& model) {
    Diagnostics warnings;
    parse_tflite(model.build(), {}, &warnings);
    std::string text;
    for (const Diagnostic& warning : warnings.warnings()) text += to_string(warning) + "\n";
    return text;
  };
  EXPECT_EQ(warnings_of(biased({0.125f, 0.25f}, 0)), "");
  EXPECT_EQ(
      warnings_of(biased({0.125f, 0.25f}, 3)),
      "tensor 'b' (CONV_2D): has 2 scales along axis 3, but only 1 axes; they are taken along axis 0; set "
      "quantized_dimension to 0\n");
  EXPECT_EQ(warnings_of(biased({0.125f, 0.5f}, 0)),
            "tensor 'b' (CONV_2D): has a scale other than input times weights; its integers are added "
            "unchanged; quantise the model again if results look wrong\n");
  EXPECT_EQ(warnings_of(biased({1, 2, 3}, 0)),
            "tensor 'b' (CONV_2D): has a scale other than input times weights; its integers are added "
            "unchanged; quantise the model again if results look wrong\n");
}

TEST(TfliteReader, DynamicRangeNeedsOneScalePerTensorToBeRounded) {
  Convolution model;
  model.weights = model.constant("w8", Tensor(ElementType::kI8, {2, 1, 1, 2}));
  model.quantize(model.weights, {1, 2}, {0, 0});
  TfliteOptions exact;
  exact.round_dynamic_range = true;
  expect_error(model.finish(), "rounds its activations on the fly although its weights have several scales",
               exact);
  Diagnostics warnings;
  parse_tflite(model.build(), {}, &warnings);
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_NE(warnings.warnings()[0].message.find("real activations, which TFLite would round"),
            std::string::npos);
}

TEST(TfliteReader, ArgumentsThatMustBeConstantOrFit) {
  const auto with = [](Op op, const std::vector<std::vector<int32_t>>& arguments, const auto& options) {
    Pair model;
    std::vector<int> inputs{model.x};
    for (const auto& argument : arguments) inputs.push_back(model.integers("argument", argument));
    model.op(op, inputs, {model.y}, options);
    return model;
  };
  const auto plain = [](Op op, const std::vector<std::vector<int32_t>>& arguments) {
    Pair model;
    std::vector<int> inputs{model.x};
    for (const auto& argument : arguments) inputs.push_back(model.integers("argument", argument));
    model.op(op, inputs, {model.y});
    return model;
  };
  Pair computed;
  const int shape = computed.input("shape", {2}, ElementType::kI32);
  computed.op(Op::BuiltinOperator_RESHAPE, {computed.x, shape}, {computed.y});
  expect_error(computed, "has sizes that are not constant integers; export the model with fixed sizes");
  expect_error(plain(Op::BuiltinOperator_RESHAPE, {}), "has neither a shape input nor a shape option");
  expect_error(plain(Op::BuiltinOperator_RESHAPE, {{5, -1}}), "cannot close the open size of its shape");
  expect_error(plain(Op::BuiltinOperator_RESHAPE, {{5, 5}}), "makes 5x5 of 32 elements");
  expect_error(plain(Op::BuiltinOperator_RESHAPE, {{-2, 5}}), "asks for the size -2");
  expect_error(plain(Op::BuiltinOperator_EXPAND_DIMS, {{1, 2}}), "has 2 axes instead of one");
  expect_error(plain(Op::BuiltinOperator_EXPAND_DIMS, {{9}}), "axis 9");
  expect_error(plain(Op::BuiltinOperator_SLICE, {{0, 0}, {1, 1}}), "has 2 starts and 2 sizes for 4 axes");
  expect_error(plain(Op::BuiltinOperator_SLICE, {{0, 3, 0, 0}, {1, 2, 4, 2}}),
               "takes 2 elements from 3 of an axis of 4");
  expect_error(plain(Op::BuiltinOperator_PAD, {{0, 0}}), "has 2 paddings for 4 axes");
  expect_error(plain(Op::BuiltinOperator_PAD, {{0, 0, -1, 0, 0, 0, 0, 0}}), "has a negative padding");
  schema::MirrorPadOptionsT symmetric;
  symmetric.mode = schema::MirrorPadMode_SYMMETRIC;
  expect_error(with(Op::BuiltinOperator_MIRROR_PAD, {{0, 0, 1, 1, 1, 1, 0, 0}}, symmetric),
               "mirrors with the border");
  schema::StridedSliceOptionsT slice;
  expect_error(with(Op::BuiltinOperator_STRIDED_SLICE, {{0}, {1, 2}, {1}}, slice),
               "has 1 starts, 2 ends and 1 strides");
  expect_error(with(Op::BuiltinOperator_STRIDED_SLICE, {{0}, {1}, {0}}, slice), "has the stride 0");
  expect_error(
      with(Op::BuiltinOperator_STRIDED_SLICE, {{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, slice),
      "slices 5 axes of 1x4x4x2");
  slice.shrink_axis_mask = 1;
  expect_error(with(Op::BuiltinOperator_STRIDED_SLICE, {{7}, {8}, {1}}, slice),
               "takes an index outside its input");
  slice.offset = true;
  expect_error(with(Op::BuiltinOperator_STRIDED_SLICE, {{0}, {1}, {1}}, slice),
               "has ends that count from the starts");
  expect_error(with(Op::BuiltinOperator_RESIZE_BILINEAR, {{4}}, schema::ResizeBilinearOptionsT()),
               "resizes 1x4x4x2 to 1 sizes");
  schema::GatherOptionsT gather;
  gather.batch_dims = 1;
  expect_error(with(Op::BuiltinOperator_GATHER, {{0}}, gather),
               "gathers from 1x4x4x2 at 1 along axis 0 with batch_dims 1");
  schema::UnpackOptionsT rows;
  rows.axis = 1;
  expect_error(with(Op::BuiltinOperator_UNPACK, {}, rows), "divides an axis of 4 into 1 outputs");
  Pair split;
  const int axis = split.scalar("axis", 3), rest = split.add("rest", ElementType::kF32, {1}),
            third = split.add("third", ElementType::kF32, {1});
  split.op(Op::BuiltinOperator_SPLIT, {axis, split.x}, {split.y, rest, third}, schema::SplitOptionsT());
  expect_error(split, "divides an axis of 2 into 3 equal parts");
  Pair pack;
  const int other = pack.constant("other", Tensor(ElementType::kF32, {2}));
  pack.op(Op::BuiltinOperator_PACK, {pack.x, other}, {pack.y}, schema::PackOptionsT());
  expect_error(pack, "packs 1x4x4x2 with 2");
  Pair number;
  const int pads = number.constant("pads", Tensor(ElementType::kI32, {4, 2})),
            computed_number = number.input("n", {});
  number.op(Op::BuiltinOperator_PADV2, {number.x, pads, computed_number}, {number.y});
  expect_error(number, "pads with a number that is not constant");
  Pair transposed;
  const int sizes = transposed.integers("sizes", {1, 4, 4, 2}),
            filter = transposed.constant("w", Tensor(ElementType::kF32, {2, 1, 1, 3}));
  transposed.op(Op::BuiltinOperator_TRANSPOSE_CONV, {sizes, filter, transposed.x}, {transposed.y},
                schema::TransposeConvOptionsT());
  expect_error(transposed, "its filter 2x1x1x3 does not fit its input 1x4x4x2");
  Pair scalar(std::vector<int32_t>{});
  scalar.op(Op::BuiltinOperator_SOFTMAX, {scalar.x}, {scalar.y}, schema::SoftmaxOptionsT());
  expect_error(scalar, "reads a scalar");
}

TEST(TfliteReader, CastsScalesAndOperandsThatHaveNoForm) {
  Pair cast;
  cast.quantize(cast.y, {1}, {0}).op(Op::BuiltinOperator_CAST, {cast.x}, {cast.y});
  expect_error(cast, "casts to tensor 'y', a tensor of FLOAT32");
  Pair deep({1, 4, 4, 2, 1});
  const int five = deep.constant("c", Tensor(ElementType::kF32, {1, 1, 1, 1, 1}));
  deep.op(Op::BuiltinOperator_ADD, {deep.x, five}, {deep.y});
  EXPECT_EQ(error_of(deep.build()), "no error");
  Pair nothing;
  nothing.op(Op::BuiltinOperator_CONCATENATION, {}, {nothing.y}, schema::ConcatenationOptionsT());
  expect_error(nothing, "(CONCATENATION): has no input");
  Pair packs_nothing;
  packs_nothing.op(Op::BuiltinOperator_PACK, {}, {packs_nothing.y}, schema::PackOptionsT());
  expect_error(packs_nothing, "(PACK): has no input");
  Pair along({1, 4, 4, 2}, ElementType::kI8);
  along.quantize(along.x, {0.5f}, {0}).quantize(along.y, {1}, {0});
  const int w = along.constant("w", Tensor(ElementType::kI8, {2, 1, 3, 2}));
  const int b = along.constant("b", Tensor(ElementType::kI32, {2}));
  along.quantize(w, {1, 2, 3}, {0, 0, 0}, 2);
  along.op(Op::BuiltinOperator_CONV_2D, {along.x, w, b}, {along.y}, stride_1());
  expect_error(along, "tensor 'w' has 3 scales for 2 output channels");
  Pair flat({4});
  schema::Pool2DOptionsT pool;
  pool.stride_h = pool.stride_w = pool.filter_height = pool.filter_width = 1;
  flat.op(Op::BuiltinOperator_MAX_POOL_2D, {flat.x}, {flat.y}, pool);
  expect_error(flat, "its input is 4 instead of rank 4");
  Pair space({4});
  schema::DepthToSpaceOptionsT block;
  block.block_size = 2;
  space.op(Op::BuiltinOperator_DEPTH_TO_SPACE, {space.x}, {space.y}, block);
  expect_error(space, "tensor 'x' has 1 axes where 4 are needed");
}

TEST(TfliteReader, TheListOfCoveredOperatorsIsThatOfTheTable) {
  for (const std::string& op : covered_tflite_operators()) EXPECT_NE(find_tflite_lowering(op), nullptr);
  EXPECT_EQ(find_tflite_lowering("WHILE"), nullptr);
  EXPECT_GT(covered_tflite_operators().size(), 50u);
}

}  // namespace
}  // namespace tilewright
