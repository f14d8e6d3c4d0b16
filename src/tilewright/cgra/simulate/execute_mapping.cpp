// Comparison value by value; the text of the first difference names node and thread.
#include "tilewright/cgra/simulate/execute_mapping.h"

#include <fmt/format.h>

#include <utility>

#include "tilewright/base/random.h"
#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/graph/evaluate.h"

namespace tilewright::cgra {
namespace {

std::string text(int32_t value) { return fmt::format("{}", value); }
std::string text(const StoreRecord& record) { return fmt::format("[{}] = {}", record.index, record.value); }

template <typename Value>
void compare_values(const std::vector<Value>& expected, const std::vector<Value>* got,
                    const std::string& what, const char* place, ExecutionCheck& check) {
  check.values += int64_t(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool there = got && i < got->size();
    if (there && (*got)[i] == expected[i]) continue;
    ++check.wrong;
    if (!check.first.empty()) continue;
    check.first = fmt::format("{}, {} {}: {} instead of {}", what, place, i,
                              there ? text((*got)[i]) : std::string("nothing"), text(expected[i]));
  }
}

void compare_array(const std::map<int32_t, int32_t>& expected, const std::map<int32_t, int32_t>& got,
                   const std::string& name, ExecutionCheck& check) {
  const auto differs = [&](int32_t index, const std::string& found, const std::string& wanted) {
    ++check.wrong;
    if (check.first.empty())
      check.first = fmt::format("array '{}' [{}]: {} instead of {}", name, index, found, wanted);
  };
  check.values += int64_t(expected.size());
  for (const auto& [index, value] : expected) {
    const auto found = got.find(index);
    if (found == got.end()) differs(index, "nothing", text(value));
    if (found != got.end() && found->second != value) differs(index, text(found->second), text(value));
  }
  for (const auto& [index, value] : got) {
    if (expected.count(index)) continue;
    ++check.values;
    differs(index, text(value), "nothing");
  }
}

template <typename Value>
const std::vector<Value>* find(const std::map<std::string, std::vector<Value>>& all,
                               const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

ExecutionCheck compare_execution(const DataflowGraph& graph, const Inputs& inputs, int threads,
                                 FabricSimulationResult result) {
  const Evaluation expected = evaluate_graph(graph, inputs, threads);
  ExecutionCheck check;
  if (result.fault) check.first = fmt::format("{}: {}", fault_name(result.fault->kind), result.fault->text);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& name = graph.nodes[i].name;
    compare_values(expected.values[i], find(result.values, name), "'" + name + "'", "thread", check);
    compare_values(expected.stores[i], find(result.stores, name), "'" + name + "'", "record of thread",
                   check);
  }
  for (size_t i = 0; i < graph.variables.size(); ++i) {
    const std::string& name = graph.variables[i].name;
    compare_values(expected.memory[i], find(result.memories, name), "variable '" + name + "'", "entry",
                   check);
  }
  for (size_t i = 0; i < graph.arrays.size(); ++i) {
    const auto found = result.arrays.find(int(i));
    compare_array(expected.arrays[i],
                  found == result.arrays.end() ? std::map<int32_t, int32_t>{} : found->second,
                  graph.arrays[i].name, check);
  }
  if (result.fault) check.wrong = check.values;
  check.result = std::move(result);
  return check;
}

ExecutionCheck execute_mapping(const MappingProblem& problem, const GraphMapping& mapping,
                               const Inputs& inputs, FabricSimulationOptions options) {
  options.values = true;
  const Configuration configuration =
      parse_configuration(print_configuration(configure(problem, mapping)), "printed configuration");
  return compare_execution(problem.graph, inputs, options.threads,
                           simulate_fabric(configuration, inputs, options));
}

Inputs random_inputs(const DataflowGraph& graph, int count, uint64_t seed) {
  Random random(seed);
  Inputs inputs;
  const auto fill = [&](std::vector<int32_t>& data) {
    for (int i = 0; i < count; ++i) {
      data.push_back(random.chance(0.5) ? int32_t(uint32_t(random.next()))
                                        : int32_t(random.between(0, count - 1)));
    }
  };
  for (size_t i = 0; i < graph.arrays.size(); ++i) fill(inputs.arrays[int(i)]);
  for (size_t i = 0; i < graph.variables.size(); ++i) fill(inputs.arguments[int(i)]);
  return inputs;
}

}  // namespace tilewright::cgra
