#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/cli/verbs.h"
#include "tilewright/overlay/checker.h"
#include "tilewright/overlay/raw_program.h"

namespace tilewright::cli {

void exec(const ExecOptions& options, std::ostream& out) {
  const overlay::RawProgram program = overlay::read_raw_program(options.program);
  Diagnostics diagnostics;
  if (options.check) overlay::check_program(program, diagnostics);
  diagnostics.raise_if_any("raw program '" + options.program + "'");
  const overlay::RawResult result = overlay::execute(program);
  overlay::write_dumps(std::filesystem::path(options.program).parent_path(), program, result);
  const overlay::RunCounters& c = result.counters;
  if (options.json) {
    nlohmann::json warnings = nlohmann::json::array();
    for (const Diagnostic& warning : diagnostics.warnings()) warnings.push_back(to_string(warning));
    out << nlohmann::json{{"warnings", warnings},
                          {"instructions", c.instructions},
                          {"gemm_uops", c.gemm_uops},
                          {"gemm_reset_uops", c.gemm_reset_uops},
                          {"alu_uops", c.alu_uops},
                          {"alu_lanes", c.alu_lanes},
                          {"uop_load_bytes", c.uop_load_bytes},
                          {"input_load_bytes", c.input_load_bytes},
                          {"weight_load_bytes", c.weight_load_bytes},
                          {"accumulator_load_bytes", c.accumulator_load_bytes},
                          {"output_store_bytes", c.output_store_bytes}}
               .dump(2)
        << "\n";
    return;
  }
  for (const Diagnostic& warning : diagnostics.warnings()) out << "warning: " << to_string(warning) << "\n";
  out << fmt::format("{} instructions: {} GEMM, {} reset and {} ALU micro-op iterations\n", c.instructions,
                     c.gemm_uops, c.gemm_reset_uops, c.alu_uops)
      << fmt::format("bytes loaded: INP {}, WGT {}, ACC {}, UOP {}; stored: OUT {}\n", c.input_load_bytes,
                     c.weight_load_bytes, c.accumulator_load_bytes, c.uop_load_bytes, c.output_store_bytes);
  for (const overlay::RawDump& dump : program.dump) out << "wrote " << dump.file.string() << "\n";
}

}  // namespace tilewright::cli
