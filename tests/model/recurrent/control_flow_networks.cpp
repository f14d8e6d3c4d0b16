#include "model/recurrent/control_flow_networks.h"

#include <string>

#include "support/frontend/model_builder_testing.h"

namespace tilewright {

using namespace onnx_testing;

std::vector<std::byte> loop_file(int64_t iterations) {
  ModelText body, model;
  body.input("i", "", 7).input("go", "", 9).input("a", "2");
  body.node("number", "Cast", {"i"}, {"f"}, int_attribute("to", 1)).node("add", "Add", {"a", "x"}, {"b"});
  body.node("more", "Add", {"b", "f"}, {"c"}).node("copy", "Identity", {"c"}, {"seen"});
  body.output("go", "", 9).output("c").output("seen");
  model.input("x", "2").output("all");
  model.initializer(tensor("count", 7, {}, raw(std::vector<int64_t>{iterations})));
  model.initializer(floats("zero", {2}, {0, 0}));
  model.node("loop", "Loop", {"count", "", "zero"}, {"last", "all"}, graph_attribute("body", body.graph()));
  return model.build();
}

std::vector<std::byte> sequence_file() {
  ModelText model;
  model.input("x", "2x5").output("y");
  model.initializer(tensor("two", 7, {}, raw(std::vector<int64_t>{2})));
  model.initializer(tensor("zero", 7, {}, raw(std::vector<int64_t>{0})));
  model.node("split", "SplitToSequence", {"x", "two"}, {"parts"}, int_attribute("axis", 1));
  model.node("less", "SequenceErase", {"parts", "zero"}, {"fewer"});
  model.node("more", "SequenceInsert", {"fewer", "x"}, {"other"});
  model.node("join", "ConcatFromSequence", {"other"}, {"y"}, int_attribute("axis", 1));
  return model.build();
}

std::vector<std::byte> microsoft_file() {
  ModelText model;
  const auto scalar = [&](const std::string& name, float scale, int zero) {
    model.initializer(floats(name + "s", {}, {scale}));
    model.initializer(tensor(name + "z", 2, {}, std::string(1, char(zero))));
  };
  scalar("a", 0.1f, 10);
  scalar("b", 0.2f, 120);
  scalar("y", 0.25f, 100);
  scalar("p", 1.0f / 256, 0);
  model.input("a", "1x2x2x2", 2).input("b", "1x2x2x2", 2);
  for (const char* output : {"sum", "product", "sigmoid", "leaky", "both", "mean"})
    model.output(output, "", 2);
  const std::string domain = "com.microsoft";
  const std::vector<std::string> pair = {"a", "as", "az", "b", "bs", "bz", "ys", "yz"};
  model.node("n1", "QLinearAdd", pair, {"sum"}, "", domain)
      .node("n2", "QLinearMul", pair, {"product"}, "", domain);
  model.node("n3", "QLinearSigmoid", {"a", "as", "az", "ps", "pz"}, {"sigmoid"}, "", domain);
  model.node("n4", "QLinearLeakyRelu", {"b", "bs", "bz", "ys", "yz"}, {"leaky"},
             float_attribute("alpha", 0.1f), domain);
  model.node("n5", "QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"}, {"both"},
             int_attribute("axis", 1), domain);
  model.node("n6", "QLinearGlobalAveragePool", {"a", "as", "az", "ys", "yz"}, {"mean"},
             int_attribute("channels_last", 0), domain);
  return model.build();
}

}  // namespace tilewright
