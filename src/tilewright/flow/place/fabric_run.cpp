// The program's inputs are columns, so that an iteration is a row as a sample is in every other verb.
#include "tilewright/flow/place/fabric_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/base/file.h"
#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/route/route_places.h"

namespace tilewright {
namespace {

using cgra::DataflowGraph;
using cgra::OperandKind;

constexpr int64_t kMostIterations = 10'000'000, kMostElements = 1 << 24;
constexpr int kUsualIterations = 100;

struct InputColumns {
  std::vector<int> arrays, arguments;
};

InputColumns input_columns(const DataflowGraph& graph) {
  std::vector<uint8_t> loaded(graph.arrays.size(), 0), read(graph.variables.size(), 0),
      sent(graph.variables.size(), 0);
  for (const cgra::DataflowNode& node : graph.nodes) {
    const bool loads = node.op == cgra::Opcode::kLoad || node.op == cgra::Opcode::kInput;
    if (loads && node.array >= 0) loaded[size_t(node.array)] = 1;
    if (node.sends >= 0) sent[size_t(node.sends)] = 1;
    for (const cgra::Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kVariable) read[size_t(operand.index)] = 1;
    }
  }
  InputColumns columns;
  for (size_t i = 0; i < loaded.size(); ++i) {
    if (loaded[i]) columns.arrays.push_back(int(i));
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i] && !sent[i] && graph.variables[i].table.empty()) columns.arguments.push_back(int(i));
  }
  return columns;
}

int32_t word(const Tensor& input, int64_t index) {
  if (is_float(input.type())) {
    const double value = input.number_at(index);
    if (value == double(int32_t(std::clamp(value, -2147483648.0, 2147483647.0)))) return int32_t(value);
  } else if (const int64_t value = input.integer_at(index); value == int32_t(value)) {
    return int32_t(value);
  }
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("element {} of the input is not a whole number of 32 bits", index));
}

cgra::Inputs make_inputs(const DataflowGraph& graph, const Tensor& input) {
  const InputColumns columns = input_columns(graph);
  const int64_t count = int64_t(columns.arrays.size() + columns.arguments.size());
  const Shape& shape = input.shape();
  const bool fits = (shape.rank() == 1 && count == 1) || (shape.rank() == 2 && shape[1] == count);
  if (!fits || shape[0] < 1) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the input has shape {}, graph '{}' takes [iterations, {}]", to_string(shape),
                            graph.name, count),
                count == 0 ? "the graph takes no input"
                           : fmt::format("columns: {}", fmt::join(program_inputs(graph), ", ")));
  }
  const auto column = [&](int64_t number) {
    std::vector<int32_t> values;
    for (int64_t row = 0; row < shape[0]; ++row) values.push_back(word(input, row * count + number));
    return values;
  };
  cgra::Inputs inputs;
  int64_t number = 0;
  for (const int array : columns.arrays) inputs.arrays[array] = column(number++);
  for (const int argument : columns.arguments) inputs.arguments[argument] = column(number++);
  return inputs;
}

// For routes that the file should have had.
constexpr double kFileRoutingSeconds = 60;

void route(cgra::MappedProgram& program) {
  if (!program.mapping.routes.empty() || program.problem.graph.edges().empty()) return;
  const Deadline limit(kFileRoutingSeconds);
  cgra::RoutingResult routed = cgra::route_places(program.problem, program.mapping, {.deadline = &limit});
  if (routed.status == SearchStatus::kStopped) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("the file has no routes, and {:.0f} s found none between its places",
                            kFileRoutingSeconds),
                "place with --routed");
  }
  if (routed.status != SearchStatus::kFeasible) {
    throw Error(ErrorKind::kInfeasible,
                "the operations' places are valid, but no routes between them fit the links and registers",
                "place with --routed");
  }
  program.mapping.routes = std::move(routed.routes);
}

Tensor dense(const std::map<int32_t, int32_t>& elements, int64_t& left_out) {
  std::vector<int32_t> values;
  for (const auto& [index, value] : elements) {
    if (index < 0 || index >= kMostElements) {
      ++left_out;
      continue;
    }
    values.resize(size_t(index) + 1, 0);
    values[size_t(index)] = value;
  }
  return Tensor(Shape{int64_t(values.size())}, std::span<const int32_t>(values));
}

void collect_outputs(const DataflowGraph& graph, FabricRun& run) {
  const cgra::FabricSimulationResult& result = run.check.result;
  for (const auto& [array, elements] : result.arrays)
    run.outputs.emplace_back(graph.arrays[size_t(array)].name, dense(elements, run.left_out));
  for (const cgra::DataflowNode& node : graph.nodes) {
    if (node.op != cgra::Opcode::kOutput || node.array >= 0) continue;
    std::map<int32_t, int32_t> elements;  // of an array of its own
    for (const cgra::StoreRecord& record : result.stores.at(node.name)) elements[record.index] = record.value;
    run.outputs.emplace_back(node.name, dense(elements, run.left_out));
  }
  if (!run.outputs.empty()) return;
  std::vector<uint8_t> consumed(graph.nodes.size(), 0);
  for (const cgra::Edge& edge : graph.edges()) consumed[size_t(edge.from)] = 1;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    if (consumed[node] || graph.nodes[node].sends >= 0) continue;
    const std::vector<int32_t>& values = result.values.at(graph.nodes[node].name);
    run.outputs.emplace_back(graph.nodes[node].name,
                             Tensor(Shape{int64_t(values.size())}, std::span<const int32_t>(values)));
  }
}

}  // namespace

bool is_mapped_program_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (path.extension() != ".json" || !std::filesystem::is_regular_file(path, failed)) return false;
  return cgra::is_mapped_program(read_text_file(path));
}

std::vector<std::string> program_inputs(const DataflowGraph& graph) {
  const InputColumns columns = input_columns(graph);
  std::vector<std::string> names;
  for (const int array : columns.arrays) names.push_back("array " + graph.arrays[size_t(array)].name);
  for (const int variable : columns.arguments)
    names.push_back("variable " + graph.variables[size_t(variable)].name);
  return names;
}

cgra::Configuration device_configuration(cgra::MappedProgram program) {
  route(program);
  return cgra::configure(program.problem, program.mapping);
}

FabricRun run_on_fabric(cgra::MappedProgram program, const std::optional<Tensor>& input, int64_t iterations) {
  const DataflowGraph& graph = program.problem.graph;
  const cgra::Inputs inputs = input ? make_inputs(graph, *input) : cgra::Inputs{};
  const int64_t rows = input ? input->shape()[0] : kUsualIterations;
  const int64_t count = iterations > 0 ? iterations : rows;
  if (count > kMostIterations || (input && count > rows)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} iterations", count),
                fmt::format("at most {}", input ? rows : kMostIterations));
  }
  route(program);
  FabricRun run;
  run.iterations = int(count);
  run.check = cgra::execute_mapping(program.problem, program.mapping, inputs, {.threads = int(count)});
  if (!run.check.result.fault) collect_outputs(graph, run);
  return run;
}

}  // namespace tilewright
