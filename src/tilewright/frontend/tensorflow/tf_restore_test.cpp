#include "tilewright/frontend/tensorflow/tf_restore.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/frontend/graphdef_builder_testing.h"
#include "support/frontend/saved_model_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;
using namespace saved_model_testing;

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

// A SavedModel in a folder of its own.
class SavedFolder {
 public:
  SavedFolder(const std::vector<std::byte>& model, const BundleText& variables)
      : folder_(testing::TempDir(), "saved") {
    write_file(folder_.path() / "saved_model.pb", model);
    variables.write(folder_.path());
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  Graph read(const TensorflowOptions& options = {}) const { return read_tensorflow(path(), options); }
  std::string error(const TensorflowOptions& options = {}) const {
    try {
      read(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  TemporaryFolder folder_;
};

const std::string kFour = raw(std::vector<float>{1, 2, 3, 4});

// y = x + w, where w is a variable of four elements.
GraphDefText sum_with(const std::string& attributes) {
  GraphDefText graph;
  graph.placeholder("x", {4}).node("w", "VarHandleOp", {}, type_attribute("dtype", kFloat) + attributes);
  graph.node("w/read", "ReadVariableOp", {"w"}).node("y", "AddV2", {"x", "w/read"});
  return graph;
}

std::vector<std::byte> served(const GraphDefText& graph) { return graph.build_saved_model({{"y", "y:0"}}); }

std::string texts_attribute(const std::vector<std::string>& texts) {
  std::string list = number(1, kString) + bytes(2, shape_text({int64_t(texts.size())}));
  for (const std::string& text : texts) list += bytes(8, text);
  return attribute("value", bytes(8, list));
}

// Assigns the tensor `key`, or its part `slice`, to the variable of sum_with.
GraphDefText& restore(GraphDefText& graph, const std::string& key, const std::string& slice = "") {
  graph.node("names", "Const", {}, texts_attribute({"other", key}));
  graph.node("slices", "Const", {}, texts_attribute({"", slice}));
  graph.node("prefix", "Placeholder", {}, type_attribute("dtype", kString));
  graph.node("restore", "RestoreV2", {"prefix", "names", "slices"});
  return graph.node("value", "Identity", {"restore:1"}).node("assign", "AssignVariableOp", {"w", "value"});
}

std::vector<float> weights_of(const Graph& graph) {
  return graph.constant_input(graph.nodes.at(0), 1)->to_floats();
}

TEST(SavedModel, AVariableIsFoundByItsRestoreOperatorOrObjectOrName) {
  const std::vector<float> four = {1, 2, 3, 4};
  const std::string zeros(16, '\0'), shape = shape_attribute("shape", {4});
  GraphDefText plain = sum_with(shape),
               restored = sum_with(shape + string_attribute("shared_name", "shared"));
  restore(restored, "key");
  BundleText variables;
  variables.tensor("key", kFloat, {4}, kFour)
      .tensor("shared", kFloat, {4}, zeros)
      .tensor("w", kFloat, {4}, zeros);
  EXPECT_EQ(weights_of(SavedFolder(served(restored), variables).read()), four);

  BundleText objects;
  objects.tensor("a/path", kFloat, {4}, kFour).tensor("w", kFloat, {4}, zeros);
  EXPECT_EQ(weights_of(SavedFolder(served(plain), objects.objects({{"w", "a/path"}})).read()), four);
  // Two objects of one name: neither can be meant.
  BundleText twice;
  twice.tensor("w", kFloat, {4}, kFour).tensor("a", kFloat, {4}, zeros);
  EXPECT_EQ(weights_of(SavedFolder(served(plain), twice.objects({{"w", "a"}, {"w", "b"}})).read()), four);

  BundleText named, shared;
  EXPECT_EQ(weights_of(SavedFolder(served(plain), named.tensor("w", kFloat, {4}, kFour)).read()), four);
  const GraphDefText with_shared = sum_with(shape + string_attribute("shared_name", "shared"));
  shared.tensor("shared", kFloat, {4}, kFour).tensor("w", kFloat, {4}, zeros);
  EXPECT_EQ(weights_of(SavedFolder(served(with_shared), shared).read()), four);
}

TEST(SavedModel, APartitionedVariableIsAPartOfATensor) {
  GraphDefText graph = sum_with(shape_attribute("shape", {2, 2}));
  restore(graph, "table", "3 4 0,2:2,2");
  BundleText variables;
  const std::vector<float> left = {0, 1, 4, 5, 8, 9}, right = {2, 3, 6, 7, 10, 11};
  variables.sliced("table", kFloat, {3, 4},
                   {{{{0, -1}, {0, 2}}, raw(left)}, {{{0, -1}, {2, 2}}, raw(right)}});
  GraphDefText matrix = graph;
  matrix.nodes[0] = GraphDefText().placeholder("x", {2, 2}).nodes[0];
  EXPECT_EQ(weights_of(SavedFolder(served(matrix), variables).read()), (std::vector<float>{2, 3, 6, 7}));
  for (const char* wrong : {"3 4 2,2:-", "3 4 -", "3 4 0,2:x", "3 4 0,2,1:-", "3 4 -1,2:-"}) {
    GraphDefText part = sum_with(shape_attribute("shape", {2, 2}));
    EXPECT_MENTIONS(SavedFolder(served(restore(part, "table", wrong)), variables).error(),
                    fmt::format("is restored from part '{}' of a tensor 3x4", wrong));
  }
}

TEST(SavedModel, EveryVariableIsReportedWithItsProblem) {
  GraphDefText graph;
  graph.placeholder("x", {4}).variable("absent", {4}).variable("shaped", {2, 2}).variable("damaged", {4});
  graph.node("counts", "VariableV2", {}, type_attribute("dtype", kInt32) + shape_attribute("shape", {-1}));
  graph.node("a", "Add", {"x", "absent/read"}).node("b", "Add", {"a", "shaped/read"});
  graph.node("c", "Add", {"b", "damaged/read"}).node("y", "Add", {"c", "counts"});
  BundleText variables;
  variables.tensor("shaped", kFloat, {4}, kFour).tensor("counts", kFloat, {4}, kFour);
  variables.tensor("damaged", kFloat, {4}, kFour).shards[0].back() = 'x';
  const SavedFolder folder(served(graph), variables);
  const std::string message = folder.error();
  EXPECT_MENTIONS(message, "file '" + folder.path().string() + "': 4 problems");
  EXPECT_MENTIONS(message, "node 'absent' (VariableV2): has no value: the checkpoint has no tensor 'absent'");
  EXPECT_MENTIONS(message,
                  "node 'shaped' (VariableV2): is f32[4] in the checkpoint, the graph declares DT_FLOAT 2x2");
  EXPECT_MENTIONS(message,
                  "node 'counts' (VariableV2): is f32[4] in the checkpoint, the graph declares DT_INT32 ?");
  EXPECT_MENTIONS(message, "node 'damaged' (VariableV2): file '");
  EXPECT_MENTIONS(message,
                  "variables.data-00000-of-00001' is damaged: the checksum of the elements does not fit");
}

// What can be wrong with one variable of four floats, and what is said of it.
struct VariableDefect {
  const char* message;  // empty: it is as it should be
  std::function<void(BundleText&, const std::string& key)> write;
};

std::vector<VariableDefect> variable_defects() {
  const auto typed = [](int type, size_t bytes) {
    return [=](BundleText& text, const std::string& key) {
      text.tensor(key, type, {4}, std::string(bytes, '\1'));
    };
  };
  const auto with = [](const std::string& field) {
    return [=](BundleText& text, const std::string& key) {
      text.tensor(key, kFloat, {4}, kFour).entries[key] += field;
    };
  };
  return {{"", typed(kFloat, 16)},
          {"has no value: the checkpoint has no tensor", [](BundleText&, const std::string&) {}},
          {"is f16[4] in the checkpoint", typed(19, 8)},
          {"is i64[4] in the checkpoint", typed(9, 32)},
          {"is bool[4] in the checkpoint", typed(10, 4)},
          {"holds elements of DT_STRING", typed(kString, 16)},
          {"holds elements of DT_COMPLEX64", typed(8, 32)},
          {"has 12 bytes, f32[4] takes 16", typed(kFloat, 12)},
          {"is f32[2x2] in the checkpoint",
           [](BundleText& text, const std::string& key) {
             text.tensor(key, kFloat, {2, 2}, kFour);
           }},
          {"bytes, the tensor needs 16 from byte 1048576", with(number(4, 1 << 20))},
          {"is in data file 5, of which there are 2", with(number(3, 5))},
          {"variables.data-00001-of-00002' is missing", with(number(3, 1))},
          {"is damaged: the checksum of the elements does not fit", with(std::string("\x35\x4d\0\0\0", 5))},
          {"has slices that leave holes or overlap",
           [](BundleText& text, const std::string& key) {
             text.sliced(key, kFloat, {4}, {{{{0, 2}}, kFour.substr(0, 8)}, {{{1, 2}}, kFour.substr(0, 8)}});
           }},
          {"lacks slice 1 of 1", [](BundleText& text, const std::string& key) {
             BundleText other;
             other.sliced(key, kFloat, {4}, {{{{0, -1}}, kFour}});
             text.entries[key] = other.entries.at(key);
           }}};
}

TEST(SavedModelClass, EveryDefectOfEveryVariableIsNamedInOneRun) {
  const std::vector<VariableDefect> defects = variable_defects();
  Random random(test_seed());
  constexpr int kVariables = 10;
  const int64_t cases = test_cases(100);
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    GraphDefText graph;
    graph.placeholder("x", {4});
    BundleText variables;
    variables.shards.resize(2);
    std::vector<std::string> expected, intact;
    for (int v = 0; v < kVariables; ++v) {
      const std::string name = fmt::format("v{}", v);
      graph.variable(name, {4});
      graph.node(v + 1 < kVariables ? fmt::format("sum{}", v) : "y", "Add",
                 {v == 0 ? "x" : fmt::format("sum{}", v - 1), name + "/read"});
      const VariableDefect& defect = defects[size_t(random.between(0, int64_t(defects.size()) - 1))];
      defect.write(variables, name);
      (*defect.message ? expected : intact).push_back(fmt::format("node '{}' (VariableV2): ", name));
      if (*defect.message) expected.back() += defect.message;
    }
    const SavedFolder folder(served(graph), variables);
    std::filesystem::remove(folder.path() / "variables/variables.data-00001-of-00002");
    const std::string message = folder.error();
    for (const std::string& problem : expected) {
      const std::string node = problem.substr(0, problem.find(": ") + 2);
      const size_t at = message.find(node);
      ASSERT_NE(at, std::string::npos) << problem << " is not in\n" << message;
      EXPECT_EQ(message.find(node, at + 1), std::string::npos) << message;
      EXPECT_MENTIONS(message.substr(at, message.find('\n', at) - at), problem.substr(node.size()));
    }
    for (const std::string& node : intact) EXPECT_EQ(message.find(node), std::string::npos) << message;
  }
}

TEST(SavedModel, MissingFilesAreNamed) {
  BundleText variables;
  variables.shards.resize(2);
  variables.tensor("w", kFloat, {4}, kFour, 1);
  const SavedFolder folder(served(sum_with(shape_attribute("shape", {4}))), variables);
  const auto file = folder.path() / "variables/variables.data-00001-of-00002";
  std::filesystem::resize_file(file, 10);
  EXPECT_MENTIONS(folder.error(), "has 10 bytes, the tensor needs 16 from byte 0");
  std::filesystem::remove(file);
  EXPECT_MENTIONS(folder.error(),
                  "node 'w' (VarHandleOp): file '" + file.string() + "' is missing; copy the whole folder");
  const auto index = folder.path() / "variables/variables.index";
  write_text_file(index, "no index");
  EXPECT_MENTIONS(folder.error(), "file '" + index.string() + "': is damaged: it is too short for an index");
  std::filesystem::remove(index);
  EXPECT_MENTIONS(folder.error(), "file '" + index.string() + "': is missing: 1 variables have no values");
  TensorflowOptions shapes_only, filled;
  shapes_only.allow_missing_weights = true;
  filled.fill_gain = 3;
  EXPECT_EQ(weights_of(folder.read(shapes_only)).size(), 4u);
  EXPECT_EQ(weights_of(folder.read(filled)).size(), 4u);
  std::filesystem::remove(folder.path() / "saved_model.pb");
  EXPECT_MENTIONS(folder.error(), "is a folder without saved_model.pb; name a model file");
}

TEST(SavedModel, TheSignatureStatesInputsAndOutputs) {
  GraphDefText graph;
  graph.placeholder("serving_x", {4}).node("decoded", "Listen", {"serving_x"});
  graph.node("y", "Relu", {"decoded"}).node("z", "Neg", {"y"});
  const std::vector<SignatureText> signatures = {{"predict", {{"sound", "decoded:0"}}, {{"scores", "y:0"}}},
                                                 {"negate", {{"sound", "y:0"}}, {{"scores", "z:0"}}}};
  const std::vector<std::byte> model = graph.build_served(signatures);
  const auto names = [&](const TensorflowOptions& options) {
    const Graph read = parse_tensorflow(model, options);
    return fmt::format("{} {} {}", read.value(read.inputs.at(0)).name, read.nodes.at(0).op,
                       read.value(read.outputs.at(0)).name);
  };
  TensorflowOptions options;
  EXPECT_EQ(names(options), "sound Relu scores");
  options.signature = "negate";
  EXPECT_EQ(names(options), "sound Neg scores");
  options.signature = "train";
  const auto error_of = [&](const std::vector<std::byte>& bytes) {
    try {
      parse_tensorflow(bytes, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of(model), "has no signature 'train'; its signatures: predict, negate");
  EXPECT_EQ(error_of(graph.build_served({})), "has no signature 'train'; it has none; leave --signature out");
  EXPECT_EQ(error_of(graph.build()), "is a GraphDef, which has no signatures; leave --signature out");
}

// Whatever bytes change: the same weights, or an error about the files.
TEST(SavedModel, NoFlippedByteGivesOtherWeights) {
  GraphDefText frozen;
  frozen.placeholder("x", {1, 8})
      .floats("w", {8, 3}, std::vector<float>(24, 0.5f))
      .floats("b", {3}, {1, 2, 3});
  frozen.node("m", "MatMul", {"x", "w"}).node("y", "BiasAdd", {"m", "b"});
  const SavedModelText text = saved_model_of(frozen.build(), {"y"}, {.style = VariableStyle::kFunctions});
  const TemporaryFolder folder(testing::TempDir(), "flipped");
  text.write(folder.path());
  const Graph expected = read_tensorflow(folder.path());
  Random random(9);
  int refused = 0;
  for (const char* name : {"variables.index", "variables.data-00000-of-00001"}) {
    const auto file = folder.path() / "variables" / name;
    const std::string original = read_text_file(file);
    for (int i = 0; i < 400; ++i) {
      std::string damaged = original;
      char& byte = damaged[size_t(random.between(0, int64_t(damaged.size()) - 1))];
      byte = char(byte ^ random.between(1, 255));
      write_text_file(file, damaged);
      try {
        const Graph read = read_tensorflow(folder.path());
        EXPECT_TRUE(read.constant_input(read.nodes.at(0), 1)
                        ->identical(*expected.constant_input(expected.nodes.at(0), 1)));
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
        ++refused;
      }
    }
    write_text_file(file, original);
  }
  EXPECT_GT(refused, 600);
}

}  // namespace
}  // namespace tilewright
