// Loop kernels on two-dimensional arrays: every kernel of cgra_graphs/dfg on mesh-4x4 and hycube-4x4 (four
// registers a tile, one value per link and slot, any tile loads and stores), at most 60 seconds each on one
// core. A kernel counts as at_min_ii where its mapping, judged by check_mapping, has the least II that bounds
// or refutations leave; proven_impossible where the bound itself (resources, recurrences) is refuted. Every
// mapping is configured, executed for 100 overlapped iterations with loop-carried values and compared with
// the evaluation of its graph. The first fields of a fabric are for the 13 kernels of Morpher, `others` for
// the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "support/outside_testing.h"
#include "tilewright/cgra/graph/kernel_file.h"
#include "tilewright/cgra/kernel/map_kernel.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

using namespace tilewright;
using namespace tilewright::cgra;

namespace {

constexpr double kSeconds = 60;
constexpr int kIterations = 100;

struct Group {
  int kernels = 0, at_min_ii = 0, proven_impossible = 0, unmapped = 0;
  int shortest = 0;  // makespan proven least at that II
  int64_t values = 0, values_wrong = 0;
  double max_seconds = 0;
};

std::vector<std::filesystem::path> kernel_files() {
  std::vector<std::filesystem::path> files;
  const auto folder = outside_models() / "cgra_graphs" / "dfg";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void execute(MappingProblem problem, const GraphMapping& mapping, Group& group) {
  problem.ii = mapping.ii;
  const bool valid = check_mapping(problem, mapping).empty();
  const ExecutionCheck check = execute_mapping(problem, mapping, random_inputs(problem.graph, kIterations, 1),
                                               {.threads = kIterations, .seed = 1});
  group.values += check.values;
  group.values_wrong += valid ? check.wrong : check.values;
}

MappingProblem problem_for(const std::filesystem::path& file, const Fabric& fabric) {
  MappingProblem problem;
  problem.graph = read_kernel_file(file).graph;
  problem.fabric = fabric;
  problem.rules = usual_rules(fabric);
  problem.rules.routed = true;
  return problem;
}

void measure(const std::filesystem::path& file, const Fabric& fabric, Group& group) {
  const MappingProblem problem = problem_for(file, fabric);
  const KernelResult result = map_kernel(problem, {.seconds = kSeconds});
  ++group.kernels;
  group.max_seconds = std::max(group.max_seconds, result.seconds);
  group.proven_impossible += result.least_ii > result.bound.value();
  if (result.mapping) {
    group.at_min_ii += result.status == SearchStatus::kOptimal;
    group.shortest += result.makespan == result.least_makespan;
    execute(problem, *result.mapping, group);
  } else {
    ++group.unmapped;
  }
  std::printf("  %-11s %-16s %2zu nodes, least II %2d (bound %2d), II %2d, %2d clocks (least %2d), %5.2f s\n",
              fabric.name.c_str(), file.stem().string().c_str(), problem.graph.nodes.size(), result.least_ii,
              result.bound.value(), result.mapping ? result.mapping->ii : -1, result.makespan,
              result.least_makespan, result.seconds);
}

Fabric preset(const std::string& name) {
  return find_fabric(name, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
}

bool is_morpher(const std::filesystem::path& file) { return file.parent_path().filename() == "morpher"; }

std::string larger_arrays() {
  int mapped = 0, at_min_ii = 0, larger = 0;
  double slowest = 0;
  for (const char* family : {"mesh", "torus"}) {
    for (const std::filesystem::path& file : kernel_files()) {
      if (!is_morpher(file)) continue;
      int before = 1 << 20;
      std::string iis;
      for (const char* size : {"4x4", "5x5", "6x6"}) {
        const MappingProblem problem = problem_for(file, preset(fmt::format("{}-{}", family, size)));
        const KernelResult result = map_kernel(problem, {.seconds = kSeconds, .shortest = false});
        const int ii = result.mapping ? result.mapping->ii : 1 << 20;
        mapped += result.mapping.has_value();
        at_min_ii += result.status == SearchStatus::kOptimal;
        larger += ii > before;
        before = ii;
        slowest = std::max(slowest, result.seconds);
        iis += fmt::format(" {}", ii);
      }
      std::printf("  %-5s %-16s II on 4x4, 5x5, 6x6:%s\n", family, file.stem().string().c_str(), iis.c_str());
    }
  }
  return fmt::format("{{\"mapped\": {}, \"at_min_ii\": {}, \"ii_larger\": {}, \"max_seconds\": {:.2f}}}",
                     mapped, at_min_ii, larger, slowest);
}

std::string json(const Group& group) {
  return fmt::format(
      "\"kernels\": {}, \"at_min_ii\": {}, \"proven_impossible\": {}, \"unmapped\": {}, \"shortest\": {}, "
      "\"values\": {}, \"values_wrong\": {}, \"max_seconds\": {:.2f}",
      group.kernels, group.at_min_ii, group.proven_impossible, group.unmapped, group.shortest, group.values,
      group.values_wrong, group.max_seconds);
}

}  // namespace

int main() {
  std::string fabrics;
  for (const char* name : {"mesh-4x4", "hycube-4x4"}) {
    const Fabric fabric = preset(name);
    Group morpher, others;
    for (const std::filesystem::path& file : kernel_files()) {
      measure(file, fabric, is_morpher(file) ? morpher : others);
    }
    fabrics += fmt::format(", \"{}\": {{{}, \"others\": {{{}}}}}", name, json(morpher), json(others));
  }
  const std::string larger = larger_arrays();
  std::printf("{\"figure\": \"kernels_2d\"%s, \"larger_arrays\": %s}\n", fabrics.c_str(), larger.c_str());
  return 0;
}
