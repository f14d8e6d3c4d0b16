// `exec`: checks a raw program, runs it on the engine that the options name, writes the parts of memory that
// the program dumps, and prints the counters.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/timed_engine.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/referee/raw_program.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cli {

void exec(const ExecOptions& options, std::ostream& out) {
  const overlay::RawProgram program = overlay::read_raw_program(
      options.program, options.allow_outside ? Confinement::kNone : Confinement::kInside);
  Diagnostics diagnostics;
  Deadline deadline(options.time_s);
  if (options.check) overlay::check_program(program, diagnostics, &deadline);
  diagnostics.raise_if_any("raw program '" + options.program + "'");
  const auto engine = overlay::make_program_engine(program.hardware, program_engine_options(options.engine));
  std::optional<overlay::TraceWriter> trace;
  if (!options.engine.trace.empty()) trace.emplace(options.engine.trace, program.hardware);
  const overlay::RawResult result = overlay::execute(program, *engine, trace ? &*trace : nullptr, &deadline);
  if (trace) trace->finish();
  overlay::write_dumps(std::filesystem::path(options.program).parent_path(), program, result);
  const overlay::RunCounters& c = result.counters;
  if (options.json) {
    nlohmann::json warnings = nlohmann::json::array();
    for (const Diagnostic& warning : diagnostics.warnings()) warnings.push_back(to_string(warning));
    nlohmann::json json = {{"warnings", warnings}, {"instructions", c.instructions}};
    if (is_timed(options.engine)) json["counters"] = counters_json(result.cycles);
    if (options.engine.engine != "rtl") {
      json.update({{"gemm_uops", c.gemm_uops},
                   {"gemm_reset_uops", c.gemm_reset_uops},
                   {"alu_uops", c.alu_uops},
                   {"alu_lanes", c.alu_lanes},
                   {"uop_load_bytes", c.uop_load_bytes},
                   {"input_load_bytes", c.input_load_bytes},
                   {"weight_load_bytes", c.weight_load_bytes},
                   {"accumulator_load_bytes", c.accumulator_load_bytes},
                   {"output_store_bytes", c.output_store_bytes}});
    }
    out << json_text(json, 2) << "\n";
    return;
  }
  for (const Diagnostic& warning : diagnostics.warnings()) out << "warning: " << to_string(warning) << "\n";
  if (is_timed(options.engine)) {
    out << fmt::format("{} cycles for {} instructions\n", result.cycles.cycles, c.instructions);
    if (options.engine.counters) out << counters_text(result.cycles);
  }
  if (options.engine.engine != "rtl") {  // the hardware does not count these
    out << fmt::format("{} instructions: {} GEMM, {} reset and {} ALU micro-op iterations\n", c.instructions,
                       c.gemm_uops, c.gemm_reset_uops, c.alu_uops)
        << fmt::format("bytes loaded: INP {}, WGT {}, ACC {}, UOP {}; stored: OUT {}\n", c.input_load_bytes,
                       c.weight_load_bytes, c.accumulator_load_bytes, c.uop_load_bytes, c.output_store_bytes);
  }
  for (const overlay::RawDump& dump : program.dump) out << "wrote " << dump.file.string() << "\n";
}

}  // namespace tilewright::cli
