// `compile`: writes the bundle, the raw programs and their assembly, and prints the table of layers.
#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/layer_table.h"

namespace tilewright::cli {

void compile(const CompileOptions& options, std::ostream& out) {
  if (options.json && options.assembly == "-") {
    throw Error(ErrorKind::kInvalidInput, "--json and --emit-assembly - both print to standard output",
                "give the assembly a file");
  }
  CompileRequest request{.hardware = options.hardware,
                         .no_records = options.no_records,
                         .memory = options.memory,
                         .states = state_pairs(options.states),
                         .decode = options.decode,
                         .folders = shared_folders()};
  request.records.assign(options.records.begin(), options.records.end());
  const Compilation compilation = with_progress("compiling " + options.model.path, [&] {
    return compile_model(load_quantized(model_file(options.model)), request);
  });
  if (!options.output.empty()) write_bundle(options.output, compilation.bundle);
  if (!options.assembly.empty() || !options.raw_folder.empty()) {
    out << write_programs(compilation.bundle, {options.assembly, options.raw_folder});
  }
  if (options.assembly == "-") return;
  const LayerTable table = layer_table(compilation);
  out << (options.json ? to_json(table) : to_string(table));
}

}  // namespace tilewright::cli
