#include "addition_grid.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "random_layer.h"
#include "tilewright/base/random.h"

namespace tilewright::random_layers {
namespace {

constexpr int kExponents = 23;  // multipliers are below 2^23

struct Preset {
  std::string name;
  OverlayHardware hardware;
  std::unique_ptr<overlay::FunctionalSimulator> simulator;
};

std::vector<Preset> presets(const std::string& folder) {
  std::vector<Preset> result;
  for (const char* file : kHardwareFiles) {
    OverlayHardware hardware = read_overlay_hardware(folder + "/" + file + ".yaml");
    hardware.dram_bytes = int64_t{1} << 26;
    result.push_back({file, hardware, std::make_unique<overlay::FunctionalSimulator>(hardware)});
  }
  return result;
}

void check(Preset& preset, uint64_t seed, const AddParameters& parameters, AdditionSummary& summary) {
  Case test = make_addition(seed, parameters, preset.hardware);
  const NodeId nodes[] = {NodeId(test.graph.nodes.size()) - 1};
  if (!overlay::supports(test.graph, test.graph.nodes.back(), preset.hardware, nullptr)) {
    ++summary.refused;
    return;
  }
  ++summary.pairs;
  ++summary.by_hardware[preset.name];
  std::string problem = "another result";
  try {
    overlay::OverlayProgram program = overlay::compile_overlay(test.graph, nodes, preset.hardware);
    const auto outputs = overlay::run_overlay(program, test.inputs, *preset.simulator);
    if (outputs.at(test.graph.outputs[0]).identical(test.expected)) return;
  } catch (const Error& error) {
    problem = error.what();
  }
  if (++summary.wrong > 20) return;
  summary.first_problems +=
      fmt::format("seed {}: {} * a + {} * b + {} >> {} on {}: {}\n", seed, parameters.multiplier_a,
                  parameters.multiplier_b, parameters.bias, parameters.shift, preset.name, problem);
}

// Up to the last bit, and often one that the overlay takes.
int32_t random_bias(Random& random) {
  const int64_t most = int64_t{1} << random.between(0, 31);
  return int32_t(random.between(-most, most - 1));
}

int32_t random_multiplier(Random& random) {
  const int bits = int(random.between(1, kExponents)),
            zeros = int(random.chance(0.5) ? random.between(0, bits - 1) : 0);
  const int64_t most = (int64_t{1} << (bits - zeros)) - 1;
  return int32_t(random.between(-most, most) * (int64_t{1} << zeros));
}

}  // namespace

AdditionSummary check_powers_of_two(uint64_t seed, int64_t step, const std::string& hardware_folder) {
  AdditionSummary summary;
  std::vector<Preset> all = presets(hardware_folder);
  Random random(seed);
  int64_t number = int64_t(seed % uint64_t(step));
  for (Preset& preset : all) {
    for (int a = 0; a < kExponents; ++a) {
      for (int b = 0; b < kExponents; ++b) {
        for (const int sign : {1, -1}) {
          if (number++ % step != 0) continue;
          AddParameters parameters;
          parameters.multiplier_a = sign * (1 << a);
          parameters.multiplier_b = 1 << b;
          check(preset, random.next(), parameters, summary);
          parameters.shift = int32_t(random.between(0, 31));
          parameters.bias = random_bias(random);
          check(preset, random.next(), parameters, summary);
        }
      }
    }
  }
  return summary;
}

AdditionSummary check_random_multipliers(uint64_t seed, int64_t count, const std::string& hardware_folder) {
  AdditionSummary summary;
  std::vector<Preset> all = presets(hardware_folder);
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) {
    AddParameters parameters;
    parameters.multiplier_a = random_multiplier(random);
    parameters.multiplier_b = random_multiplier(random);
    parameters.shift = int32_t(random.between(0, 31));
    parameters.bias = random_bias(random);
    check(all[size_t(i) % all.size()], random.next(), parameters, summary);
  }
  return summary;
}

void add(AdditionSummary& total, const AdditionSummary& other) {
  total.pairs += other.pairs;
  total.wrong += other.wrong;
  total.refused += other.refused;
  for (const auto& [name, count] : other.by_hardware) total.by_hardware[name] += count;
  total.first_problems += other.first_problems;
}

std::string describe(const AdditionSummary& summary) {
  std::string text =
      fmt::format("{} pairs, {} wrong, {} left to the host\n", summary.pairs, summary.wrong, summary.refused);
  for (const auto& [name, count] : summary.by_hardware)
    text += fmt::format("  hardware/{}.yaml {}\n", name, count);
  return text;
}

}  // namespace tilewright::random_layers
