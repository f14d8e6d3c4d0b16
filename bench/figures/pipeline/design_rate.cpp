// design_rate: how many designs of ResNet-50 are evaluated per minute, and how long one takes from the file
// to its Verilog. A design point is a distinct allocation of the whole network that keeps all rules, with its
// latency and all five resources; drawing, checking and comparing it with those before are counted in. Two
// threads. The second measure reads the official file (filled weights), quantises, allocates, builds,
// estimates and writes everything that `generate` writes but the cycle simulation.
//
//   design_rate [--quick]    --quick: 5 seconds of drawing instead of 60
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "pipeline_networks.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/allocate/allocate_processors.h"
#include "tilewright/pipeline/emit/emit.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ProcessorChoice random_choice(Random& random) {
  ProcessorChoice choice;
  choice.pi = int64_t{1} << random.between(2, 7);
  choice.po = choice.pi * random.between(1, 12);
  while (choice.pf < choice.pi && random.chance(0.6)) choice.pf *= 2;
  choice.multiplier =
      std::array{Multiplier::kDsp, Multiplier::kPair, Multiplier::kLut}[size_t(random.between(0, 2))];
  choice.lane_multiplier = random.chance(0.5) ? Multiplier::kDsp : Multiplier::kLut;
  choice.unroll = random.chance(0.5);
  choice.bands = random.between(1, 8);
  choice.units = random.between(1, 3);
  choice.weights_on_chip = random.chance(0.3);
  choice.ring_blocks = random.between(2, 9);
  choice.tensor_memory = random.chance(0.5) ? netlist::MemoryKind::kUltraRam : netlist::MemoryKind::kBlockRam;
  choice.weight_memory = random.chance(0.5) ? netlist::MemoryKind::kUltraRam : netlist::MemoryKind::kBlockRam;
  return choice;
}

// What the few numbers of a choice leave open: the ring's depth, and which layers are cut in two.
void vary(Allocation& allocation, const Network& network, Random& random) {
  if (!allocation.weights_on_chip) allocation.ring_words += random.between(0, 1000);
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const int64_t rows = network.tensors[size_t(network.layers[l].output)].shape.rows;
    if (rows > 1 && random.chance(0.1)) allocation.layers[l].band_rows = (rows + 1) / 2;
  }
}

struct Rate {
  int64_t points = 0, drawn = 0;
  double seconds = 0;
  int64_t least_latency = INT64_MAX;
};

// One thread's share; `seen` holds the allocations of all.
void draw(const Network& network, const Budget& budget, const Estimator& estimator, uint64_t seed, double end,
          std::mutex& lock, std::unordered_set<std::string>& seen, Rate& rate) {
  Random random(seed);
  while (seconds() < end) {
    const ProcessorChoice choice = random_choice(random);
    Allocation allocation = make_processors(network, budget, choice);
    vary(allocation, network, random);
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    bool counts = diagnostics.ok();
    if (counts) {
      const std::string text = print_allocation(allocation);
      const std::lock_guard<std::mutex> guard(lock);
      counts = seen.insert(text).second;
    }
    Estimate estimate;
    if (counts) estimate = estimator(allocation);
    const std::lock_guard<std::mutex> guard(lock);
    ++rate.drawn;
    if (estimate.resources.lut <= 0 || estimate.resources.ff <= 0 || estimate.latency_cycles <= 0) continue;
    rate.least_latency = std::min(rate.least_latency, estimate.latency_cycles);
    ++rate.points;
  }
}

Rate measure_rate(const Network& network, const Budget& budget, double limit_s, int threads) {
  const Estimator estimator(network, budget.family, budget.port);
  std::mutex lock;
  std::unordered_set<std::string> seen;
  Rate rate;
  const double begin = seconds();
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back(
        [&, t] { draw(network, budget, estimator, uint64_t(t) + 1, begin + limit_s, lock, seen, rate); });
  }
  for (std::thread& worker : workers) worker.join();
  rate.seconds = seconds() - begin;
  return rate;
}

double import_to_verilog(const PipelineCase& item) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tilewright_design_rate";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const double begin = seconds();
  const Network network = item.network();
  const AllocationResult found = allocate(network, item.limits(), Objective::kLatency);
  EmitOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  emit(build(network, found.allocation), network, nullptr, folder, options);
  const double taken = seconds() - begin;
  std::filesystem::remove_all(folder);
  return taken;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  for (const PipelineCase& item : pipeline_cases()) {
    if (item.name != "resnet50_int8") continue;
    const double whole = import_to_verilog(item);
    fmt::print("official ResNet-50 in int8, from the file to Verilog, memories and host program: {:.1f} s\n",
               whole);
    const Network network = item.network();
    const Rate rate = measure_rate(network, item.limits(), quick ? 5 : 60, 2);
    const double per_minute = 60 * double(rate.points) / rate.seconds;
    fmt::print("{} distinct designs of {} drawn in {:.1f} s, least latency {} cycles\n", rate.points,
               rate.drawn, rate.seconds, rate.least_latency);
    fmt::print(
        "{{\"figure\": \"design_rate\", \"points_per_minute\": {:.0f}, \"points\": {}, \"threads\": 2, "
        "\"resnet50_seconds\": "
        "{:.1f}}}\n",
        per_minute, rate.points, whole);
    return rate.points > 0 ? 0 : 1;
  }
  return 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
