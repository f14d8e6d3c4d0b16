// Closed forms of a row-stationary chip.
#include "support/spatial/chip_model_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tilewright/base/integer_math.h"

namespace tilewright::study {
namespace {

void check_mapping(const LayerShape& layer, const PassMapping& mapping) {
  Diagnostics diagnostics;
  layer.verify(diagnostics);
  const std::array<std::pair<const char*, int64_t>, 7> factors = {{{"m", mapping.m},
                                                                   {"n", mapping.n},
                                                                   {"e", mapping.e},
                                                                   {"p", mapping.p},
                                                                   {"q", mapping.q},
                                                                   {"r", mapping.r},
                                                                   {"t", mapping.t}}};
  for (const auto& entry : factors) {
    if (entry.second >= 1 && entry.second <= int64_t{1} << 20) continue;
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("mapping of layer '{}'", layer.name), entry.first,
                      fmt::format("{} is not in 1..2^20", entry.second));
  }
  if (mapping.e > layer.E) {
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("mapping of layer '{}'", layer.name), "e",
                      fmt::format("a strip of {} rows of an output of {}", mapping.e, layer.E));
  }
  diagnostics.raise_if_any();
}

// Input rows that all strips of an output column read, those between two strips twice.
double strip_rows(const LayerShape& layer, int64_t strip) {
  const int64_t whole = layer.E / strip, rest = layer.E % strip;
  const int64_t last = rest == 0 ? 0 : layer.U * (rest - 1) + layer.R;
  return double(whole * (layer.U * (strip - 1) + layer.R) + last);
}

}  // namespace

ChipCost chip_cost(const StudyMachine& machine, const LayerShape& layer, const PassMapping& mapping) {
  check_mapping(layer, mapping);
  const auto [m, n, e, p, q, r, t] = mapping;
  const double bytes = double(machine.word_bytes);
  const double rows = strip_rows(layer, e);
  const double strips = double(ceil_div(layer.E, e));
  const double filter_groups = double(ceil_div(layer.M, p * t));
  const double channel_groups = double(ceil_div(layer.C, q * r));
  const double batches = double(ceil_div(layer.N, n));
  const double strip_inputs = double(layer.G * layer.N * layer.C * layer.W) * rows;
  const double outputs = double(layer.output_words());

  ChipCost cost;
  cost.active_pes = double(layer.R * e * r * t);
  cost.buffer_input_bytes = bytes * double(n * q * r * layer.W * (layer.U * (e - 1) + layer.R));
  cost.buffer_output_bytes = bytes * double(n * m * layer.F * e);
  // Partial sums are read and written once per group of channels; the way out counts as the last read.
  cost.buffer_traffic_bytes = bytes * (strip_inputs * filter_groups + 2 * channel_groups * outputs);
  cost.dram_weight_bytes = bytes * double(layer.weight_words()) * batches * strips;
  cost.dram_input_bytes = bytes * strip_inputs * double(ceil_div(layer.M, m));
  cost.dram_output_bytes = bytes * outputs;
  cost.passes = double(layer.G) * strips * filter_groups * channel_groups * batches;
  cost.compute_cycles = cost.passes * double(layer.F * layer.S * p * q * n);
  cost.ideal_cycles = double(layer.macs()) / cost.active_pes;
  return cost;
}

double run_length_ratio(const StudyMachine& machine, double zero_fraction) {
  if (!machine.run_length_code) return 1;
  const RunLengthCode& code = *machine.run_length_code;
  const double z = std::clamp(zero_fraction, 0.0, 1.0);
  const double longest = double((int64_t{1} << code.run_bits));  // words that one pair covers at most
  const double words_per_pair = z == 1 ? longest : (1 - std::pow(z, longest)) / (1 - z);
  const double bits_per_pair = double(code.word_bits) / double(code.pairs_per_word);
  return bits_per_pair / words_per_pair / (8 * double(machine.word_bytes));
}

double zeros_without_padding(double zero_fraction, const LayerShape& layer, int64_t padding) {
  const double inner = double((layer.H - 2 * padding) * (layer.W - 2 * padding));
  const double share = 1 - inner / double(layer.H * layer.W);
  return share >= 1 ? 0 : std::max(0.0, (zero_fraction - share) / (1 - share));
}

double zeros_before_pool(double zero_fraction, double independent_values) {
  return std::pow(std::clamp(zero_fraction, 0.0, 1.0), 1 / std::max(independent_values, 1.0));
}

}  // namespace tilewright::study
