// The RTL counts no micro-ops and no bytes, so its answer has neither.
#include "tilewright/flow/run/raw_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/json.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/run/overlay_engine.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/referee/raw_program.h"
#include "tilewright/overlay/time/trace.h"

namespace tilewright {
namespace {

std::string raw_run_json(const EngineRequest& engine, const Diagnostics& found,
                         const overlay::RawResult& result) {
  const overlay::RunCounters& c = result.counters;
  nlohmann::json warnings = nlohmann::json::array();
  for (const Diagnostic& warning : found.warnings()) warnings.push_back(to_string(warning));
  nlohmann::json facts = {{"warnings", warnings}, {"instructions", c.instructions}};
  if (engine.is_timed()) facts["counters"] = counters_json(result.cycles);
  if (engine.name != "rtl") {
    facts.update({{"gemm_uops", c.gemm_uops},
                  {"gemm_reset_uops", c.gemm_reset_uops},
                  {"alu_uops", c.alu_uops},
                  {"alu_lanes", c.alu_lanes},
                  {"uop_load_bytes", c.uop_load_bytes},
                  {"input_load_bytes", c.input_load_bytes},
                  {"weight_load_bytes", c.weight_load_bytes},
                  {"accumulator_load_bytes", c.accumulator_load_bytes},
                  {"output_store_bytes", c.output_store_bytes}});
  }
  return json_text(facts, 2) + "\n";
}

std::string raw_run_text(const EngineRequest& engine, const Diagnostics& found,
                         const overlay::RawProgram& program, const overlay::RawResult& result) {
  const overlay::RunCounters& c = result.counters;
  std::string text;
  for (const Diagnostic& warning : found.warnings()) text += "warning: " + to_string(warning) + "\n";
  if (engine.is_timed()) {
    text += fmt::format("{} cycles for {} instructions\n", result.cycles.cycles, c.instructions);
    if (engine.counters) text += counters_text(result.cycles);
  }
  if (engine.name != "rtl") {
    text +=
        fmt::format("{} instructions: {} GEMM, {} reset and {} ALU micro-op iterations\n", c.instructions,
                    c.gemm_uops, c.gemm_reset_uops, c.alu_uops) +
        fmt::format("bytes loaded: INP {}, WGT {}, ACC {}, UOP {}; stored: OUT {}\n", c.input_load_bytes,
                    c.weight_load_bytes, c.accumulator_load_bytes, c.uop_load_bytes, c.output_store_bytes);
  }
  for (const overlay::RawDump& dump : program.dump) text += "wrote " + dump.file.string() + "\n";
  return text;
}

}  // namespace

Answer run_raw_program(const RawRunRequest& request) {
  if (is_container(request.program)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' is a bundle, not a raw program", request.program.string()),
                "'tilewright run' runs it; 'tilewright compile --emit-raw FOLDER' writes raw programs");
  }
  const overlay::RawProgram program = overlay::read_raw_program(
      request.program, request.allow_outside ? Confinement::kNone : Confinement::kInside);
  Diagnostics found;
  Deadline* const deadline = request.engine.deadline;
  if (request.check) overlay::check_program(program, found, deadline);
  found.raise_if_any("raw program '" + request.program.string() + "'");
  const auto engine =
      overlay::make_program_engine(program.hardware, program_engine_options(request.engine, request.folders));
  std::optional<overlay::TraceWriter> trace;
  if (!request.engine.trace.empty()) trace.emplace(request.engine.trace, program.hardware);
  const overlay::RawResult result = overlay::execute(program, *engine, trace ? &*trace : nullptr, deadline);
  if (trace) trace->finish();
  overlay::write_dumps(request.program.parent_path(), program, result);
  return {raw_run_text(request.engine, found, program, result), raw_run_json(request.engine, found, result)};
}

}  // namespace tilewright
