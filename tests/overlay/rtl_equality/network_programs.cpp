#include "network_programs.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/flow/run/engine.h"
#include "zoo/seeded.h"

namespace tilewright::overlay {

std::vector<EqualityProgram> network_programs(const std::string& name, const Graph& float_graph,
                                              const OverlayHardware& hardware) {
  const Compilation compilation = zoo::seeded_compilation(float_graph, hardware);
  const auto engine = std::make_shared<Engine>(compilation.bundle, Execution::kAsPlaced);
  const Tensor input = zoo::seeded_input(engine->graph());
  std::map<ValueId, Tensor> values{{engine->graph().inputs[0], input}};
  const std::vector<Tensor> outputs =
      Session(engine).run({input}, [&](ValueId value, const Tensor& tensor) { values[value] = tensor; });
  Session host(std::make_shared<Engine>(compilation.bundle, Execution::kOnHost));
  TILEWRIGHT_CHECK(outputs.at(0).identical(host.run({input}).at(0)), name + " differs from the host");

  std::vector<EqualityProgram> programs;
  for (const Engine::PreparedStep& step : engine->steps()) {
    if (step.program == nullptr) continue;
    OverlayProgram program = *step.program;
    write_program_inputs(program, values);
    programs.push_back({fmt::format("{} {}", name, programs.size()), std::move(program.memory),
                        program.instruction_address, program.instruction_count});
  }
  TILEWRIGHT_CHECK(!programs.empty(), name + " has no overlay program");
  return programs;
}

}  // namespace tilewright::overlay
