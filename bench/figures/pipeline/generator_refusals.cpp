// Random networks of all widths on seven devices for both objectives through the search and the builder of
// `generate`: refusals of the builder, objectives that the other one beats, and results of the netlist that
// are not the graph's. Some of the designs run in Verilog, with random stalls, several images, and started
// again. --seed S --cases N (1,000) --verilog V (150); --quick: a tenth of both.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "pipeline/pipeline_designs/generator_case.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {
namespace {

struct Options {
  uint64_t seed = 1;
  int64_t cases = 1000, verilog = 150;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) options.cases = 100, options.verilog = 15;
    if (i + 1 == argc) continue;
    if (std::strcmp(argv[i], "--seed") == 0) options.seed = std::stoull(argv[i + 1]);
    if (std::strcmp(argv[i], "--cases") == 0) options.cases = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--verilog") == 0) options.verilog = std::stoll(argv[i + 1]);
  }
  return options;
}

// Mismatches of the design's Verilog: without stalls, with stalls, and started a second time each.
int64_t run_verilog(const GeneratorCase& one, const Allocation& allocation, uint64_t seed,
                    const std::filesystem::path& cache) {
  const Network& network = one.network();
  const Design design = build(network, allocation);
  const HostBorder border(network);
  std::vector<std::vector<int32_t>> images;
  for (const std::vector<Tensor>& inputs : one.inputs()) images.push_back(border.image(inputs));
  RtlPortOptions options;
  options.model.rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl";
  options.model.cache_folder = cache;
  options.memory = find_memory_model("fixed:40:1:90");
  options.limit_cycles = 20'000'000;
  RtlDesignPort port(design, options);
  int64_t mismatches = 0;
  for (const uint64_t pause : {uint64_t{0}, seed + 1}) {
    port.restart(pause);
    for (int start = 0; start < 2; ++start) {
      const DesignRun run = run_design(design, port, images);
      for (size_t i = 0; i < images.size(); ++i) {
        const std::vector<Tensor> outputs = border.outputs(run.outputs[i], one.inputs()[i]);
        for (size_t o = 0; o < outputs.size(); ++o)
          mismatches += outputs[o].identical(one.expected()[i][o]) ? 0 : 1;
      }
    }
  }
  return mismatches;
}

int run(const Options& options) {
  std::printf("seed %llu\n", (unsigned long long)options.seed);
  GeneratorCounts counts;
  AllocateOptions search;
  search.nodes = 200;
  search.evaluations = 200;
  int64_t in_verilog = 0, wrong = 0;
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / ("tilewright-generator-" + std::to_string(::getpid()));
  for (int64_t i = 0; i < options.cases; ++i) {
    const uint64_t seed = options.seed * 100'000 + uint64_t(i);
    GeneratorCase one(seed, counts);
    one.run(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices", search);
    if (in_verilog < options.verilog && !one.allocations().empty() &&
        in_verilog * options.cases <= i * options.verilog) {
      ++in_verilog;
      try {
        const int64_t own =
            run_verilog(one, one.allocations()[size_t(i) % one.allocations().size()], seed, cache);
        if (own > 0)
          counts.first_problem += fmt::format("seed {}: {} results of the Verilog differ\n", seed, own);
        wrong += own;
      } catch (const std::exception& error) {
        ++wrong;
        counts.first_problem += fmt::format("seed {} in Verilog: {}\n", seed, error.what());
      }
    }
    if ((i + 1) % 10 == 0) {
      std::printf("%lld networks: %lld designs, %lld budgets too small, %lld in Verilog\n%s",
                  (long long)(i + 1), (long long)counts.designs, (long long)counts.too_small,
                  (long long)in_verilog, counts.first_problem.c_str());
      std::fflush(stdout);
    }
  }
  std::filesystem::remove_all(cache);
  std::printf(
      "%s{\"figure\": \"generator_refusals\", \"networks\": %lld, \"designs\": %lld, "
      "\"emitter_refusals\": %lld, \"other_errors\": %lld, \"worse_objective\": %lld, \"named_budgets\": "
      "%lld, \"refused_budgets\": %lld, "
      "\"mismatches\": %lld, \"in_verilog\": %lld, \"verilog_mismatches\": %lld}\n",
      counts.first_problem.c_str(), (long long)counts.networks, (long long)counts.designs,
      (long long)counts.emitter_refusals, (long long)counts.wrong_errors, (long long)counts.worse_objective,
      (long long)counts.named_budgets, (long long)counts.refused_budgets, (long long)counts.mismatches,
      (long long)in_verilog, (long long)wrong);
  const bool ran =
      counts.networks == options.cases && counts.designs > options.cases && in_verilog == options.verilog;
  return ran && counts.failures() == 0 && wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::pipeline

int main(int argc, char** argv) {
  try {
    return tilewright::pipeline::run(tilewright::pipeline::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generator_refusals: %s\n", error.what());
    return 1;
  }
}
