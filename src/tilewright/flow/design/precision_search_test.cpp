#include "tilewright/flow/design/precision_search.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/random_seed_testing.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

using synthesis::Resources;

pipeline::Budget small_part() {
  pipeline::Budget budget;
  budget.resources = {40'000, 80'000, 0, 120, 120, 0};
  return budget;
}

struct RandomClassifier {
  Graph graph;
  std::vector<Tensor> samples;
};

// Convolutions with a sum of two of them, and a dense layer.
RandomClassifier random_classifier(uint64_t seed) {
  FloatGraph g;
  g.random = Random(seed);
  const ValueId x = g.graph.add_value("x", ElementType::kF32, Shape{1, 2, 6, 6});
  g.graph.inputs = {x};
  const ValueId a = g.relu(g.convolution(x, 4));
  const ValueId b = g.convolution(a, 4);
  const ValueId sum = g.relu(g.node("Add", {a, b}, {1, 4, 6, 6}));
  const ValueId flat = g.node("Flatten", {sum}, {1, 144}, {{"axis", int64_t{1}}});
  const ValueId w = g.graph.add_constant("dense", g.numbers({144, 5}, -0.3, 0.3));
  g.graph.outputs = {g.node("MatMul", {flat, w}, {1, 5})};
  RandomClassifier result;
  result.samples = {g.numbers({24, 2, 6, 6}, -1, 1)};
  result.graph = g.graph;
  return result;
}

PrecisionSearchRequest search_request(const RandomClassifier& network, const std::string& limits) {
  PrecisionSearchRequest request;
  request.study.samples = network.samples;
  request.study.options.calibration = CalibrationMethod::kMinMax;
  request.study.options.reconstruct = false;
  request.study.budget = small_part();
  request.study.sparing = spared_resource(limits);
  request.limits = limits;
  request.widths = {2, 4, 6, 8};
  request.points = 2;
  request.fine_tune->runs = 640;
  return request;
}

// What is chosen keeps every limit, its graph has the bits that are told, in hardware and as QONNX.
TEST(PrecisionSearch, KeepsLimitsAndTellsItsBits) {
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomClassifier network = random_classifier(seed);
    const char* const limits[] = {"lut=0.7", "lut=0.8,cycles=1", "lut=0.85,cycles=1.0,dsp=1"};
    PrecisionSearchRequest request = search_request(network, limits[i % 3]);
    if (i == 1) request.study.objective = pipeline::Objective::kThroughput;
    const PrecisionSearchResult result = search_precision(network.graph, request);
    const Resources &need = result.chosen.estimate.resources, &have = result.limits.resources;
    EXPECT_LE(need.lut, have.lut);
    EXPECT_LE(need.ff, have.ff);
    EXPECT_LE(need.dsp, have.dsp);
    EXPECT_LE(need.bram, have.bram);
    const pipeline::Estimate& estimate = result.chosen.estimate;
    EXPECT_LE(i == 1 ? estimate.interval_cycles : estimate.latency_cycles, result.limits.cycles);
    EXPECT_EQ(result.training.problem, "");
    EXPECT_GE(result.training.trained, 1);
    EXPECT_GE(result.chosen.right, result.training.before.right);
    for (size_t p = 1; p < result.front.size(); ++p) {
      EXPECT_GE(result.front[p].estimate.resources.*result.resource,
                result.front[p - 1].estimate.resources.*result.resource);
      EXPECT_GE(result.front[p].right, result.front[p - 1].right);
    }

    const Graph integer = integerize(result.quantized);
    const pipeline::Network hardware = pipeline::extract_network(integer);
    Diagnostics problems;
    result.chosen.allocation.verify(hardware, problems);
    EXPECT_TRUE(problems.ok());
    EXPECT_EQ(pipeline::estimate(hardware, result.chosen.allocation, small_part().family, small_part().port)
                  .resources,
              need);
    for (const pipeline::Layer& layer : hardware.layers) {
      EXPECT_LE(layer.weight_bits,
                *std::max_element(result.chosen.bits.weights.begin(), result.chosen.bits.weights.end()));
    }
    const TemporaryFolder folder(std::filesystem::temp_directory_path(), "precision");
    write_quantized(folder.path() / "q.onnx", result.quantized, "qonnx");
    const Graph exchanged = integerize(optimize(load_model(folder.path() / "q.onnx")));
    EXPECT_EQ(classify(exchanged, network.samples, 1), classify(integer, network.samples, 1));
    const nlohmann::json json = nlohmann::json::parse(to_json(result));
    EXPECT_EQ(json.at("chosen").at("lut"), need.lut);
    EXPECT_EQ(json.at("front").size(), result.front.size());
    EXPECT_NE(to_string(result).find("chosen"), std::string::npos);
  }
}

// Without training the choice is that before it; what cannot be trained is chosen all the same.
TEST(PrecisionSearch, TrainsWhereItCan) {
  RandomClassifier network = random_classifier(test_seed());
  PrecisionSearchRequest request = search_request(network, "lut=0.8");
  const PrecisionSearchResult trained = search_precision(network.graph, request);
  request.fine_tune.reset();
  const PrecisionSearchResult plain = search_precision(network.graph, request);
  EXPECT_EQ(plain.training.trained, 0);
  EXPECT_EQ(plain.chosen.bits, trained.training.before.bits);
  EXPECT_EQ(plain.chosen.right, trained.training.before.right);

  Graph& graph = network.graph;
  for (const Node& node : graph.nodes) {
    if (node.is("Flatten")) graph.outputs = {node.input(0)};
  }
  graph.remove_dead();
  const PrecisionSearchResult maps = search_precision(graph, search_request(network, "lut=0.9"));
  EXPECT_EQ(maps.training.problem, "the network's output is no score of each class");
  EXPECT_FALSE(maps.training.kept);
  EXPECT_NE(to_string(maps).find("weights were not trained: the network's output"), std::string::npos);
}

// And a search that is allowed as much finds it again.
TEST(PrecisionSearchClass, SaysWhatIsTheLeastThatWasReached) {
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE(seed);
    const RandomClassifier network = random_classifier(seed);
    PrecisionSearchRequest request = search_request(network, "lut=0.01");
    request.points = int64_t(1 + seed % 3);
    std::string text;
    try {
      search_precision(network.graph, request);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
      text = error.what();
    }
    EXPECT_NE(text.find("the nearest of"), std::string::npos) << text;
    EXPECT_NE(text.find("allow lut=0."), std::string::npos) << text;
    request.limits.clear();
    constexpr std::string_view kAllow = "allow ";
    for (size_t at = text.find(kAllow); at != std::string::npos; at = text.find(kAllow, at + 1)) {
      const size_t first = at + kAllow.size();
      request.limits +=
          (request.limits.empty() ? "" : ",") + text.substr(first, text.find(',', first) - first);
    }
    request.fine_tune.reset();
    EXPECT_NO_THROW(search_precision(network.graph, request)) << request.limits << text;
  }
}

TEST(PrecisionLimits, SharesCountsAndErrors) {
  pipeline::Estimate eight;
  eight.resources = {1000, 2000, 0, 50, 30, 0};
  const PrecisionLimits limits = precision_limits("lut=0.5,dsp=40,cycles=0.9", eight, 700);
  EXPECT_EQ(limits.resources, (Resources{500, 2000, 0, 40, 30, 0}));
  EXPECT_EQ(limits.cycles, 630);
  EXPECT_EQ(spared_resource("cycles=0.9,bram=0.5,lut=1"), &Resources::bram);
  EXPECT_EQ(spared_resource("cycles=0.9"), &Resources::lut);
  for (const auto& [text, word] :
       {std::pair{"luts=0.5", "did you mean 'lut'"},
        std::pair{"lut=x", "'x' is neither a share of at most 1 nor a count"},
        std::pair{"lut=0", "'0' is neither"}, std::pair{"cycles=1.02", "'1.02' is neither"},
        std::pair{"", "nothing is limited"}, std::pair{"lut", "'' is neither"}}) {
    try {
      precision_limits(text, eight, 700);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

// Labels of another number, a single sample, and a deadline.
TEST(PrecisionSearch, RefusesWhatItCannotUse) {
  const RandomClassifier network = random_classifier(test_seed());
  const auto kind = [&](const PrecisionSearchRequest& request) -> std::optional<ErrorKind> {
    try {
      search_precision(network.graph, request);
      return std::nullopt;
    } catch (const Error& error) {
      return error.kind();
    }
  };
  PrecisionSearchRequest request = search_request(network, "lut=0.9");
  request.study.labels = {1, 2, 3};
  EXPECT_EQ(kind(request), ErrorKind::kInvalidInput);
  request = search_request(network, "lut=0.9");
  request.study.samples = {Tensor(ElementType::kF32, {1, 2, 6, 6})};
  EXPECT_EQ(kind(request), ErrorKind::kInvalidInput);
  request = search_request(network, "lut=0.9");
  const Deadline over(0);
  request.study.deadline = &over;
  EXPECT_EQ(kind(request), ErrorKind::kInfeasible);
}

}  // namespace
}  // namespace tilewright
