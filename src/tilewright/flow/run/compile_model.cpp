// Records that come with Tilewright are used wherever they are installed.
#include "tilewright/flow/run/compile_model.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <system_error>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/raw_form.h"
#include "tilewright/flow/run/recorded_schedules.h"
#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/transform/token_step.h"

namespace tilewright {
namespace {

std::string numbered(const std::string& path, size_t index, size_t count) {
  if (count == 1 || path == "-") return path;
  const std::filesystem::path p(path);
  return (p.parent_path() / fmt::format("{}.{}{}", p.stem().string(), index, p.extension().string()))
      .string();
}

// Null where none are wanted.
std::unique_ptr<tune::BestSchedules> open_records(const CompileRequest& request) {
  if (request.no_records) {
    if (request.records.empty()) return nullptr;
    throw Error(ErrorKind::kInvalidInput, "--records and --no-records contradict each other",
                "leave out one");
  }
  std::vector<std::unique_ptr<tune::BestSchedules>> sources;
  const std::filesystem::path own = request.folders.models / "tune/zoo.jsonl.gz";
  std::error_code ignored;
  if (std::filesystem::exists(own, ignored)) sources.push_back(tune::open_best_schedules(own));
  for (const std::filesystem::path& path : request.records)
    sources.push_back(tune::open_best_schedules(path));
  return tune::join_best_schedules(std::move(sources));
}

}  // namespace

Graph load_quantized(const ModelFile& file) {
  Graph graph = load_model(file);
  if (!is_quantized(graph)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is not quantised", file.path.string()),
                "run 'tilewright quantize' first");
  }
  return graph;
}

Compilation compile_model(Graph quantized, const CompileRequest& request) {
  const OverlayHardware hardware = find_overlay_hardware(request.hardware, request.folders.hardware);
  IntegerizeReport report;
  Graph graph = integerize(optimize(std::move(quantized)), &report);
  if (request.decode) graph = form_token_step(graph);
  std::vector<StatePair> states = find_states(graph, request.states);
  const std::unique_ptr<tune::BestSchedules> records = open_records(request);
  const ScheduleSource source =
      records ? recorded_schedules(*records, hardware, find_memory_model(request.memory)) : ScheduleSource();
  Compilation compilation = compile(std::move(graph), hardware, {}, source);
  compilation.bundle.meanings = std::move(report.meanings);
  compilation.bundle.states = std::move(states);
  return compilation;
}

std::string write_programs(const Bundle& bundle, const ProgramFiles& files) {
  const Engine engine(bundle, Execution::kAsPlaced);
  std::vector<const overlay::OverlayProgram*> programs;
  for (const Engine::PreparedStep& step : engine.steps()) {
    if (step.program) programs.push_back(step.program.get());
  }
  if (programs.empty()) {
    throw Error(ErrorKind::kUnsupported, "no layer runs on the overlay: there is no program to write",
                "compile without --emit-raw and --emit-assembly to see why, layer by layer");
  }
  std::string printed;
  for (size_t i = 0; i < programs.size(); ++i) {
    const overlay::OverlayProgram& program = *programs[i];
    if (!files.assembly.empty()) {
      const std::string text =
          overlay::disassemble(program.hardware, program.instruction_bytes(),
                               std::span(program.memory).subspan(program.uop_address, program.uop_bytes));
      if (files.assembly == "-") {
        printed += text;
      } else {
        write_text_file(numbered(files.assembly, i, programs.size()), text);
      }
    }
    if (!files.raw.empty()) {
      FolderWriter folder(numbered(files.raw, i, programs.size()), "compile");
      overlay::write_raw_program(folder.path(), raw_form(program));
      folder.commit();
    }
  }
  return printed;
}

}  // namespace tilewright
