// `run` of a mapped program: equal to the graph's evaluation, arrays in and out.
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/problem/mapping_file.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

struct Files {
  std::filesystem::path folder, program, input;
};

// The vector sum at II 2, and its inputs for five iterations.
const Files& files() {
  static const Files made = [] {
    const std::string source = TILEWRIGHT_SOURCE_DIR;
    cgra::MappedProgram program;
    program.problem.graph = cgra::read_graph_file(source + "/models/cgra/vector_add.json").graph;
    program.problem.fabric = find_fabric("streaming-engine", source + "/hardware");
    program.problem.ii = 2;
    program.problem.rules = cgra::usual_rules(program.problem.fabric);
    program.mapping = cgra::map_exact(program.problem, {}).mapping.value();
    Files files;
    files.folder = fresh_folder("run_fabric");
    files.program = files.folder / "mapped.json";
    files.input = files.folder / "x.npy";
    write_text_file(files.program, cgra::print_mapped_program(program));
    Tensor input(ElementType::kI32, Shape{5, int64_t(program_inputs(program.problem.graph).size())});
    for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, i);
    write_npy(files.input, input);
    return files;
  }();
  return made;
}

TEST(RunFabric, ExecutesAMappedProgramAndComparesIt) {
  const CommandResult run = command("run " + files().program.string() + " --input " + files().input.string() +
                                    " --engine fabric --output " + (files().folder / "y.npy").string());
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("5 iterations in "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("values are equal to the graph's own evaluation"), std::string::npos)
      << run.output;
  EXPECT_GT(read_npy(files().folder / "y.npy").size(), 0);
}

TEST(RunFabric, PrintsJson) {
  const CommandResult run = command("run " + files().program.string() + " --engine fabric --json");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("\"mismatches\": 0"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("\"iterations\": 100"), std::string::npos) << run.output;
}

TEST(RunFabric, RefusesWhatDoesNotBelongTogether) {
  CommandResult run = command("run " + files().program.string() + " --input " + files().input.string());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("a mapped program runs on the fabric only"), std::string::npos) << run.output;
  run = command("run " + files().program.string() + " --engine fabric --counters");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("--counters does not apply to a mapped program"), std::string::npos)
      << run.output;
  run = command("run " + files().input.string() + " --engine fabric --input " + files().input.string());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("is not a mapped program"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace tilewright
