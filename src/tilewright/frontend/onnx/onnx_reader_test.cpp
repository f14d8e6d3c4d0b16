#include "tilewright/frontend/onnx/onnx_reader.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "support/frontend/model_builder_testing.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

using namespace onnx_testing;
namespace fs = std::filesystem;

std::string error_of(const ModelText& model, const OnnxOptions& options = {}, const fs::path& folder = {}) {
  try {
    parse_onnx(model.build(), folder, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

ModelText relu(const std::string& dims = "1x4") {
  ModelText model;
  model.input("x", dims).output("y").node("r", "Relu", {"x"}, {"y"});
  return model;
}

TEST(OnnxReader, ReadsAGraph) {
  ModelText model;
  model.input("x", "2x3").input("w", "3x4").output("z");
  model.initializer(floats("w", {3, 4}, std::vector<float>(12, 0.5f)));
  model.node("", "MatMul", {"x", "w"}, {"y"}).node("act", "Relu", {"y"}, {"z"});
  const Graph graph = parse_onnx(model.build());
  EXPECT_EQ(graph.name, "test");
  ASSERT_EQ(graph.inputs.size(), 1u);  // the initializer is none
  EXPECT_EQ(graph.value(graph.inputs[0]).shape, (Shape{2, 3}));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].name, "y");  // after its first output
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "z");
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{2, 4}));
}

TEST(OnnxReader, NodesAreSortedAndNamesMadeUnique) {
  ModelText model;
  model.input("x", "4").output("c");
  model.node("n", "Relu", {"b"}, {"c"}).node("n", "Abs", {"x"}, {"b"});
  const Graph graph = parse_onnx(model.build());
  EXPECT_EQ(graph.nodes[0].op, "Abs");
  EXPECT_NE(graph.nodes[0].name, graph.nodes[1].name);
}

TEST(OnnxReader, EightBitTypedConvolutionsAreReadAsFloatsWithAWarning) {
  ModelText model;
  model.input("x", "1x2x4x4", 3).output("z", "1x3x4x4", 3);
  model.initializer(tensor("w", 3, {3, 2, 1, 1}, std::string("\x01\xff\x02\x00\x03\x04", 6)));
  model.initializer(tensor("b", 6, {3}, std::string("\x05\0\0\0\xff\xff\xff\xff\0\1\0\0", 12)));
  model.node("c", "Conv", {"x", "w", "b"}, {"z"});
  Diagnostics warnings;
  const Graph graph = parse_onnx(model.build(), {}, {}, &warnings);
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->type(), ElementType::kF32);
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 2)->to_integers(), (std::vector<int64_t>{5, -1, 256}));
  EXPECT_EQ(graph.value(graph.inputs[0]).type, ElementType::kF32);
  EXPECT_EQ(graph.value(graph.outputs[0]).type, ElementType::kF32);
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_integers(),
            (std::vector<int64_t>{1, -1, 2, 0, 3, 4}));
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_EQ(to_string(warnings.warnings()[0]),
            "1 convolutions are over 8-bit integers, which ONNX does not allow; read as f32; shapes and work "
            "are right; "
            "use QLinearConv or QDQ form to run it");
}

TEST(OnnxReader, ConstantsOfEveryForm) {
  ModelText model;
  model.input("x", "2").output("y");
  model.node("a", "Constant", {}, {"a"}, tensor_attribute("value", floats("", {2}, {1, 2})));
  model.node("b", "Constant", {}, {"b"}, float_attribute("value_float", 3.5f));
  model.node("c", "Constant", {}, {"c"}, floats_attribute("value_floats", {4, 5}));
  model.node("d", "Constant", {}, {"d"}, int_attribute("value_int", 6));
  model.node("e", "Constant", {}, {"e"}, ints_attribute("value_ints", {2}));
  model.node("s", "Sum", {"x", "a", "b", "c"}, {"t"}).node("r", "Reshape", {"t", "e"}, {"y"});
  const Graph graph = parse_onnx(model.build());
  EXPECT_EQ(graph.nodes.size(), 2u);
  std::map<std::string, std::vector<float>> values;
  for (const Value& value : graph.values) {
    if (value.constant) values[value.name] = value.constant->to_floats();
  }
  EXPECT_EQ(values["a"], (std::vector<float>{1, 2}));
  EXPECT_EQ(values["b"], (std::vector<float>{3.5f}));
  EXPECT_EQ(values["c"], (std::vector<float>{4, 5}));
  EXPECT_EQ(values["d"], (std::vector<float>{6}));
  EXPECT_EQ(values["e"], (std::vector<float>{2}));
}

TEST(OnnxReader, ComputedSizesAreFollowed) {
  ModelText model;
  model.input("x", "batchx6").output("y");
  model.initializer(int64s("zero", {0})).initializer(int64s("rest", {2, 3}));
  model.node("shape", "Shape", {"x"}, {"s"}).node("g", "Gather", {"s", "zero"}, {"n"});
  model.node("c", "Concat", {"n", "rest"}, {"t"}, int_attribute("axis", 0))
      .node("r", "Reshape", {"x", "t"}, {"y"});
  OnnxOptions options;
  options.dimensions["batch"] = 5;
  const Graph graph = parse_onnx(model.build(), {}, options);
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{5, 2, 3}));
}

TEST(OnnxReader, FixedInputsBecomeConstants) {
  ModelText model;
  model.input("x", "6").input("s", "2", 7).output("y").node("r", "Reshape", {"x", "s"}, {"y"});
  OnnxOptions options;
  options.fixed_inputs["s"] = Tensor::of<int64_t>(Shape{2}, {2, 3});
  const Graph graph = parse_onnx(model.build(), {}, options);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{2, 3}));
  options.fixed_inputs["t"] = Tensor::scalar(1.0f);
  EXPECT_MENTIONS(error_of(model, options),
                  "input 't': is to be fixed, but the model has no input of this name");
  options.fixed_inputs.erase("t");
  options.fixed_inputs["s"] = Tensor::scalar(1.0f);
  EXPECT_MENTIONS(error_of(model, options),
                  "input 's': is fixed to f32[scalar] but declared as a tensor of INT64");
}

TEST(OnnxReader, EveryUnboundDimensionIsNamed) {
  ModelText model;
  model.input("x", "Nx3x?").input("m", "Nx4").output("y").node("r", "Relu", {"x"}, {"y"});
  const std::string message = error_of(model);
  EXPECT_MENTIONS(message, "dynamic dimensions without a size: N, x.2 (of 'x' [N,3,?], 'm' [N,4])");
  EXPECT_MENTIONS(message, "--shape N=N --shape x.2=N");
  OnnxOptions options;
  options.dimensions = {{"N", 2}, {"x.2", 7}, {"other", 1}};
  Diagnostics warnings;
  const Graph graph = parse_onnx(model.build(), {}, options, &warnings);
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{2, 3, 7}));
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_MENTIONS(to_string(warnings.warnings()[0]),
                  "dimension 'other': no input has a dynamic dimension of this name");
  options.dimensions["N"] = 0;
  EXPECT_MENTIONS(error_of(model, options), "dimension 'N': cannot be 0");
}

TEST(OnnxReader, NamesMustBeUtf8) {
  const auto named = [](const std::string& node, const std::string& value) {
    ModelText model;
    model.input("x", "4").output("y").node(node, "Relu", {"x"}, {value}).node("r", "Relu", {value}, {"y"});
    return model;
  };
  for (const char* good : {"plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(error_of(named(good, good)), "no error") << good;
  }
  // A lone lead byte, a lone continuation, a longer form than needed, a surrogate, beyond the last code
  // point.
  for (const char* bad : {"a\xC3", "\x80", "\xC1\x81", "\xE0\x81\x81", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_MENTIONS(error_of(named(bad, "m")), "its name is not UTF-8; rename it");
  }
  const std::string both = error_of(named("n\xFF", "v\xFE"));
  EXPECT_MENTIONS(both, "node 'n\\xff': its name is not UTF-8");
  EXPECT_MENTIONS(both, "value 'v\\xfe': its name is not UTF-8");
}

TEST(OnnxReader, AllUnsupportedOperatorsAreNamed) {
  ModelText model;
  model.input("x", "4").output("d");
  model.node("first", "FancyOp", {"x"}, {"a"}).node("second", "Unique", {"a"}, {"b"});
  model.node("third", "Trunc", {"b"}, {"c"}, "", "onnx.brevitas").node("fine", "Relu", {"c"}, {"d"});
  const std::string message = error_of(model);
  EXPECT_MENTIONS(message, "3 problems");
  EXPECT_MENTIONS(message, "node 'first' (FancyOp): operator is not supported");
  EXPECT_MENTIONS(message,
                  "node 'second' (Unique): operator is not supported; the size of its output depends on the "
                  "data: end the "
                  "network before it (--output-node) and select on the host");
  EXPECT_MENTIONS(message, "node 'third' (Trunc): operator of domain 'onnx.brevitas' is not supported");
}

TEST(OnnxReader, FunctionsOfTheModelAreNamed) {
  ModelText model = relu();
  model.node("f", "Swish", {"y"}, {"z"}, "", "mine");
  model.extra = bytes(25, bytes(1, "Swish") + bytes(10, "mine"));
  EXPECT_MENTIONS(error_of(model), "node 'f' (Swish): is a function of the model, which is not supported");
}

TEST(OnnxReader, ProblemsOfDifferentKindsComeTogether) {
  ModelText model;
  model.input("x", "4").input("text", "1", 8).output("c").output("missing");
  model.initializer(tensor("w", 1, {3}, "1234"));
  model.node("add", "Add", {"x", "w"}, {"a"}).node("gone", "Add", {"a", "nowhere"}, {"b"});
  model.node("twice", "Relu", {"x"}, {"a"}).node("bad", "Softmax", {"x"}, {"c"}, int_attribute("axis", 9));
  const std::string message = error_of(model);
  EXPECT_MENTIONS(message, "initializer 'w': of type f32[3] has 4 bytes of raw data instead of 12");
  EXPECT_MENTIONS(message, "node 'gone' (Add): reads 'nowhere', which nothing produces");
  EXPECT_MENTIONS(message, "node 'twice' (Relu): produces 'a', which exists already");
  EXPECT_MENTIONS(message, "input 'text': is a tensor of STRING");
  EXPECT_MENTIONS(message, "node 'bad' (Softmax)");
}

TEST(OnnxReader, CyclesAreReported) {
  ModelText model;
  model.input("x", "4").output("b").node("p", "Add", {"x", "b"}, {"a"}).node("q", "Relu", {"a"}, {"b"});
  EXPECT_MENTIONS(error_of(model), "node 'p' (Add): is on a cycle, or after one");
}

TEST(OnnxReader, OutputsMustExistAndShouldMatch) {
  ModelText model = relu();
  model.output("z");
  EXPECT_MENTIONS(error_of(model), "output 'z': is produced by nothing");
  ModelText none;
  none.input("x", "4").node("r", "Relu", {"x"}, {"y"});
  EXPECT_MENTIONS(error_of(none), "model: has no outputs");
  ModelText other;
  other.input("x", "1x4").output("y", "1x5").node("r", "Relu", {"x"}, {"y"});
  Diagnostics warnings;
  parse_onnx(other.build(), {}, {}, &warnings);
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_MENTIONS(to_string(warnings.warnings()[0]), "output 'y': is declared with another type or shape");
}

TEST(OnnxReader, OpsetsOutsideOfTheRangeAreRefused) {
  ModelText model = relu();
  model.opset = 23;
  EXPECT_EQ(parse_onnx(model.build()).nodes.size(), 1u);
  model.opset = 24;
  EXPECT_MENTIONS(error_of(model), "opset 24 is not among those that can be read (1 to 23)");
  model.opset = 0;
  EXPECT_MENTIONS(error_of(model), "opset 0 is not among those that can be read");
  model.opset = 17;
  model.extra = bytes(8, number(2, 13));
  EXPECT_MENTIONS(error_of(model), "imports the standard operators in two versions");
}

TEST(OnnxReader, OtherFilesAreRefused) {
  const auto read = [](const std::string& text) {
    try {
      const auto* begin = reinterpret_cast<const std::byte*>(text.data());
      parse_onnx({begin, text.size()});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_MENTIONS(read(""), "is not an ONNX model");
  EXPECT_MENTIONS(read("hello world, this is text"), "is not an ONNX model");
  EXPECT_MENTIONS(read(number(1, 8) + bytes(8, number(2, 17))), "has no graph");
  EXPECT_MENTIONS(read(number(1, 8) + bytes(7, "")), "does not state the opset");
  EXPECT_MENTIONS(read("\x08\x08\x3a\xff\x01"), "cut short");
  // A graph in an attribute of a node of a graph in ...
  std::string graph;
  for (int i = 0; i < 40; ++i) graph = bytes(1, bytes(5, bytes(1, "g") + bytes(6, graph)));
  EXPECT_MENTIONS(read(number(1, 8) + bytes(7, graph) + bytes(8, number(2, 17))),
                  "is not an ONNX model (or is cut short, or nested deeper than 100)");
}

TEST(OnnxReader, HugeTensorsCostNothing) {
  ModelText model = relu();
  model.initializer(tensor("w", 1, {int64_t{1} << 39, 2}, "1234"))
      .initializer(tensor("v", 1, {int64_t{1} << 62, 8}, ""));
  model.initializer(tensor("u", 1, {-5}, "")).initializer(tensor("t", 99, {1}, "1"));
  const std::string message = error_of(model);
  EXPECT_MENTIONS(message, "initializer 'w': of type f32[549755813888x2] has 4 bytes of raw data");
  EXPECT_MENTIONS(message, "initializer 'v': of shape 4611686018427387904x8 is too large");
  EXPECT_MENTIONS(message, "initializer 'u': has a dimension of -5");
  EXPECT_MENTIONS(message, "initializer 't': has the element type type number 99");
}

// Quadratic behaviour would show here as minutes.
TEST(OnnxReader, LongChainsOfNodesWithOneName) {
  constexpr int kNodes = 50000;
  ModelText model;
  model.input("v0", "4").output("v" + std::to_string(kNodes));
  for (int i = 0; i < kNodes; ++i) {
    model.node("same", "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  const Graph graph = parse_onnx(model.build());
  EXPECT_EQ(graph.nodes.size(), size_t(kNodes));
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "onnx_external_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    fs::create_directories(root_ / "model");
    write_text_file(root_ / "outside.bin", std::string(64, 'x'));
    write_text_file(root_ / "model" / "w.bin", raw(std::vector<float>{9, 1, 2, 3, 4}));
  }
  void TearDown() override { fs::remove_all(root_); }

  // x + w, w[4] at `location`.
  static ModelText model(const std::string& location, const std::string& offset,
                         const std::string& length = "") {
    const auto entry = [](const std::string& key, const std::string& value) {
      return bytes(13, bytes(1, key) + bytes(2, value));
    };
    std::string text =
        number(1, 4) + number(2, 1) + bytes(8, "w") + entry("location", location) + number(14, 1);
    if (!offset.empty()) text += entry("offset", offset);
    if (!length.empty()) text += entry("length", length);
    ModelText result;
    result.input("x", "4").output("y").initializer(text).node("add", "Add", {"x", "w"}, {"y"});
    return result;
  }
  fs::path folder() const { return root_ / "model"; }
  fs::path root_;
};

TEST_F(ExternalDataTest, IsReadAtItsOffset) {
  const Graph graph = parse_onnx(model("w.bin", "4", "16").build(), folder());
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(ExternalDataTest, StaysInsideTheFolder) {
  const std::vector<std::string> locations = {"../outside.bin", "a/../../outside.bin",
                                              (root_ / "outside.bin").string()};
  for (const std::string& location : locations) {
    EXPECT_MENTIONS(error_of(model(location, ""), {}, folder()), "lies outside the model's folder");
  }
  fs::create_symlink(root_ / "outside.bin", folder() / "link.bin");
  EXPECT_MENTIONS(error_of(model("link.bin", ""), {}, folder()), "lies outside the model's folder");
  EXPECT_MENTIONS(error_of(model("w.bin", "")), "the model was not read from a folder");
}

TEST_F(ExternalDataTest, IsCheckedAgainstTheFile) {
  EXPECT_MENTIONS(error_of(model("w.bin", "8"), {}, folder()),
                  "external data file 'w.bin' has 20 bytes, the tensor needs 16 from offset 8");
  EXPECT_MENTIONS(error_of(model("w.bin", "0", "12"), {}, folder()),
                  "a length of 12 is stated, the tensor needs 16");
  EXPECT_MENTIONS(error_of(model("w.bin", "-4"), {}, folder()), "has external data with offset '-4'");
  EXPECT_MENTIONS(error_of(model("w.bin", "99999999999999999999"), {}, folder()),
                  "has external data with offset");
  EXPECT_MENTIONS(error_of(model("", ""), {}, folder()), "has no usable location");
}

// A file for each of many tensors, more than a process may have open.
TEST_F(ExternalDataTest, MayBeInMoreFilesThanCanBeOpen) {
  constexpr int kFiles = 60, kOpen = 40;
  ModelText many;
  many.input("x", "1").output("y" + std::to_string(kFiles - 1));
  for (int i = 0; i < kFiles; ++i) {
    const std::string index = std::to_string(i), location = "w" + index + ".bin";
    write_text_file(folder() / location, raw(std::vector<float>{float(i)}));
    many.initializer(number(1, 1) + number(2, 1) + bytes(8, "w" + index) +
                     bytes(13, bytes(1, "location") + bytes(2, location)) + number(14, 1));
    many.node("n" + index, "Add", {i == 0 ? "x" : "y" + std::to_string(i - 1), "w" + index}, {"y" + index});
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{kOpen, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::string message = error_of(many, {}, folder());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(message, "no error");
  const Graph graph = parse_onnx(many.build(), folder());
  for (int i = 0; i < kFiles; ++i) {
    EXPECT_EQ(graph.constant_input(graph.nodes[size_t(i)], 1)->number_at(0), i);
  }
}

TEST_F(ExternalDataTest, MayBeMissingOnRequest) {
  EXPECT_MENTIONS(error_of(model("none.bin", ""), {}, folder()),
                  "initializer 'w': external data file 'none.bin' is missing; put it next to the model");
  OnnxOptions options;
  options.allow_missing_weights = true;
  Diagnostics warnings;
  const Graph graph = parse_onnx(model("none.bin", "").build(), folder(), options, &warnings);
  EXPECT_EQ(graph.constant_input(graph.nodes[0], 1)->to_floats(), std::vector<float>(4, 0.0f));
  ASSERT_EQ(warnings.warnings().size(), 1u);
  EXPECT_MENTIONS(to_string(warnings.warnings()[0]), "its weights are zero");
}

}  // namespace
}  // namespace tilewright
