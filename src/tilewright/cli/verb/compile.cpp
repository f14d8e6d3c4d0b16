// `compile`: optimises and integerises a quantised model, compiles it with recorded schedules where there are
// any, writes the bundle, the raw programs and their assembly, and prints the table of layers.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/run/raw_form.h"
#include "tilewright/flow/run/recorded_schedules.h"
#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/tune/records/best_schedules.h"

namespace tilewright::cli {
namespace {

void print_table(const CompileOptions& options, const Compilation& compilation, std::ostream& out) {
  const LayerTable table = layer_table(compilation);
  if (!options.json) {
    out << to_string(table);
    return;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const LayerRow& row : table.rows) {
    rows.push_back({{"node", row.name},
                    {"op", row.op},
                    {"on", row.on_overlay ? "overlay" : "host"},
                    {"reason", row.reason},
                    {"macs", row.macs},
                    {"bytes_moved", row.bytes_moved},
                    {"uops", row.uops},
                    {"cycles", row.cycles},
                    {"share_of_peak", row.share_of_peak},
                    {"schedule_from", !row.on_overlay ? ""
                                      : row.recorded  ? "record"
                                                      : "default"}});
  }
  out << json_text(nlohmann::json{{"hardware", compilation.bundle.hardware.name},
                                  {"total_macs", table.total_macs},
                                  {"overlay_mac_share", table.overlay_mac_share()},
                                  {"cycles", table.total_cycles},
                                  {"layers", rows}},
                   2)
      << "\n";
}

// Overlay steps in order; more than one gets numbered files and folders.
std::string numbered(const std::string& path, size_t index, size_t count) {
  if (count == 1 || path == "-") return path;
  const std::filesystem::path p(path);
  return (p.parent_path() / fmt::format("{}.{}{}", p.stem().string(), index, p.extension().string()))
      .string();
}

void emit_programs(const CompileOptions& options, const Engine& engine, std::ostream& out) {
  std::vector<const overlay::OverlayProgram*> programs;
  for (const Engine::PreparedStep& step : engine.steps()) {
    if (step.program) programs.push_back(step.program.get());
  }
  if (programs.empty()) {
    throw Error(ErrorKind::kUnsupported, "no layer runs on the overlay: there is no program to write",
                "compile without --emit-raw and --emit-assembly to see why, layer by layer");
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    const overlay::OverlayProgram& program = *programs[i];
    if (!options.assembly.empty()) {
      const std::string text =
          overlay::disassemble(program.hardware, program.instruction_bytes(),
                               std::span(program.memory).subspan(program.uop_address, program.uop_bytes));
      if (options.assembly == "-") {
        out << text;
      } else {
        write_text_file(numbered(options.assembly, i, programs.size()), text);
      }
    }
    if (!options.raw_folder.empty()) {
      FolderWriter folder(numbered(options.raw_folder, i, programs.size()), "compile");
      overlay::write_raw_program(folder.path(), raw_form(program));
      folder.commit();
    }
  }
}

// The records that come with the command, if any, and those that the options name; null where none are
// wanted.
std::unique_ptr<tune::BestSchedules> open_records(const CompileOptions& options) {
  if (options.no_records) {
    if (options.records.empty()) return nullptr;
    throw Error(ErrorKind::kInvalidInput, "--records and --no-records contradict each other",
                "leave out one");
  }
  std::vector<std::unique_ptr<tune::BestSchedules>> sources;
  const std::filesystem::path own = shared_folder("models") / "tune/zoo.jsonl.gz";
  std::error_code ignored;
  if (std::filesystem::exists(own, ignored)) sources.push_back(tune::open_best_schedules(own));
  for (const std::string& path : options.records) sources.push_back(tune::open_best_schedules(path));
  return tune::join_best_schedules(std::move(sources));
}

}  // namespace

void compile(const CompileOptions& options, std::ostream& out) {
  Graph graph = read_model(options.model);
  if (!is_quantized(graph)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is not quantised", options.model.path),
                "run 'tilewright quantize' first");
  }
  if (options.json && options.assembly == "-") {
    throw Error(ErrorKind::kInvalidInput, "--json and --emit-assembly - both print to standard output",
                "give the assembly a file");
  }
  const OverlayHardware hardware = find_hardware(options.hardware);
  IntegerizeReport report;
  graph = integerize(tilewright::optimize(std::move(graph)), &report);
  const std::unique_ptr<tune::BestSchedules> records = open_records(options);
  const ScheduleSource source =
      records ? recorded_schedules(*records, hardware, find_memory_model(options.memory)) : ScheduleSource();
  Compilation compilation = tilewright::compile(std::move(graph), hardware, {}, source);
  compilation.bundle.meanings = std::move(report.meanings);
  if (!options.output.empty()) write_bundle(options.output, compilation.bundle);
  if (!options.assembly.empty() || !options.raw_folder.empty()) {
    emit_programs(options, Engine(compilation.bundle, EngineKind::kFunctional), out);
  }
  if (options.assembly != "-") print_table(options, compilation, out);
}

}  // namespace tilewright::cli
