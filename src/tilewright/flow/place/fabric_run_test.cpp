// A mapped program from columns of numbers to stored arrays.
#include "tilewright/flow/place/fabric_run.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/evaluate.h"
#include "tilewright/cgra/graph/expression.h"
#include "tilewright/cgra/graph/graph_file.h"

namespace tilewright {
namespace {

const std::string kSource = TILEWRIGHT_SOURCE_DIR;

cgra::MappedProgram mapped(cgra::DataflowGraph graph, int ii) {
  cgra::MappedProgram made;
  made.problem.graph = std::move(graph);
  made.problem.fabric = find_fabric("streaming-engine", kSource + "/hardware");
  made.problem.ii = ii;
  made.problem.rules = cgra::usual_rules(made.problem.fabric);
  made.mapping = cgra::map_exact(made.problem, {}).mapping.value();
  return made;
}

cgra::DataflowGraph graph_of(const std::string& text) {
  Diagnostics diagnostics;
  cgra::DataflowGraph graph = cgra::parse_expression(text, "test", {}, diagnostics);
  diagnostics.raise_if_any();
  return graph;
}

cgra::MappedProgram program(const std::string& name, int ii) {
  return mapped(cgra::read_graph_file(kSource + "/models/cgra/" + name + ".json").graph, ii);
}

std::string error_of(const cgra::MappedProgram& program, const std::optional<Tensor>& input,
                     int64_t iterations) {
  try {
    run_on_fabric(program, input, iterations);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FabricRun, TakesColumnsAndGivesStoredArrays) {
  const cgra::MappedProgram made = program("vector_add", 2);
  const std::vector<std::string> names = program_inputs(made.problem.graph);
  const int64_t columns = int64_t(names.size());
  Tensor input(ElementType::kI32, Shape{6, columns});
  for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, 10 * (i / columns) + i % columns);
  const FabricRun run = run_on_fabric(made, input, 0);
  EXPECT_EQ(run.iterations, 6);
  EXPECT_EQ(run.check.wrong, 0) << run.check.first;
  ASSERT_FALSE(run.outputs.empty());
  // The stored arrays are the graph's own.
  cgra::Inputs inputs;
  for (int64_t c = 0; c < columns; ++c) {
    const std::string& name = names[size_t(c)];
    std::vector<int32_t> values;
    for (int64_t row = 0; row < 6; ++row) values.push_back(int32_t(10 * row + c));
    const auto& graph = made.problem.graph;
    for (size_t i = 0; i < graph.arrays.size(); ++i) {
      if (name == "array " + graph.arrays[i].name) inputs.arrays[int(i)] = values;
    }
    for (size_t i = 0; i < graph.variables.size(); ++i) {
      if (name == "variable " + graph.variables[i].name) inputs.arguments[int(i)] = values;
    }
  }
  const cgra::Evaluation expected = cgra::evaluate_graph(made.problem.graph, inputs, 6);
  for (const auto& [name, tensor] : run.outputs) {
    for (size_t i = 0; i < made.problem.graph.arrays.size(); ++i) {
      if (made.problem.graph.arrays[i].name != name) continue;
      for (const auto& [index, value] : expected.arrays[i]) EXPECT_EQ(tensor.integer_at(index), value);
    }
  }
}

TEST(FabricRun, RunsWithoutInputAndForFewerIterations) {
  const cgra::MappedProgram made = program("distance", 3);
  EXPECT_EQ(run_on_fabric(made, {}, 0).iterations, 100);
  const FabricRun run = run_on_fabric(made, {}, 7);
  EXPECT_EQ(run.iterations, 7);
  EXPECT_EQ(run.check.wrong, 0);
}

TEST(FabricRun, RejectsInputsOfAnotherForm) {
  const cgra::MappedProgram made = program("vector_add", 2);
  EXPECT_NE(error_of(made, Tensor(ElementType::kI32, Shape{6, 99}), 0).find("columns: "), std::string::npos);
  // One column may be a vector, and is one column.
  const cgra::MappedProgram single = mapped(graph_of("y[i] = x[i] * 3"), 3);
  EXPECT_EQ(error_of(single, Tensor(ElementType::kI32, Shape{6}), 0), "");
  EXPECT_EQ(error_of(single, Tensor(ElementType::kI32, Shape{6, 1}), 0), "");
  EXPECT_NE(error_of(single, Tensor(ElementType::kI32, Shape{6, 2}), 0).find("takes [iterations, 1]"),
            std::string::npos);
  EXPECT_NE(error_of(single, Tensor(ElementType::kI32, Shape{6, 1, 1}), 0).find("takes [iterations, 1]"),
            std::string::npos);
  const int64_t columns = int64_t(program_inputs(made.problem.graph).size());
  Tensor input(ElementType::kF32, Shape{2, columns});
  EXPECT_EQ(error_of(made, input, 0), "");
  EXPECT_NE(error_of(made, input, 3).find("at most 2"), std::string::npos);
  input.set_number(1, 0.5);
  EXPECT_NE(error_of(made, input, 0).find("element 1 of the input is not a whole number"), std::string::npos);
}

}  // namespace
}  // namespace tilewright
