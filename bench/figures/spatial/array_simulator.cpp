// AlexNet's five convolutions (batch of 4) on the simulated 168-PE row-stationary chip: every pass goes
// through the clock with real 16-bit data. Prints cycles, time at the chip's clock, its ratio to the measured
// processing time (JSSC 2017, Table V) and what the PEs did; then what each part of the description of the
// chip contributes, each changed alone. Outputs are compared with a plain convolution, traffic with the
// closed forms.
#include "tilewright/spatial/chip/array_simulator.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "spatial/claims/alexnet_on_chip.h"
#include "support/spatial/random_chip_layer_testing.h"

namespace {

using namespace tilewright;
using claims::ChipLayer;
using claims::kAlexnetOnChip;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Totals {
  double seconds = 0, milliseconds = 0;
  int64_t cycles = 0, passes = 0, mismatches = 0;
  std::string json;
};

void run_line(const RowStationaryChip& chip, const ChipLayer& line, Totals& totals) {
  Random random(1);
  const std::vector<int16_t> input = testing::random_words(random, line.layer.input_words());
  const std::vector<int16_t> weights = testing::random_words(random, line.layer.weight_words());
  ArrayRunOptions options;
  options.time_every_pass = true;
  const auto start = std::chrono::steady_clock::now();
  const ArrayRun run = run_layer(chip, line.layer, line.mapping, input, weights, options);
  const double seconds = seconds_since(start);
  const ArrayTime& time = run.time;
  const bool outputs_ok = run.outputs == testing::plain_convolution(line.layer, input, weights);
  const bool traffic_ok = time.traffic == closed_form_traffic(line.layer, line.mapping);
  const double ms = time.milliseconds(chip), ratio = ms / line.measured_ms;
  const PeCycles& pe = time.pe_cycles;
  const auto share = [&](int64_t cycles) { return 100.0 * double(cycles) / double(pe.total()); };
  std::printf("%-6s %6lld %9lld %9lld %7.2f %7.3f | %5.1f %5.1f %6.1f %6.1f %6.1f %6.1f %6.1f | %s\n",
              line.layer.name.c_str(), (long long)time.passes, (long long)time.cycles,
              (long long)time.ideal_cycles, ms, ratio, share(pe.multiply), share(pe.accumulate),
              share(pe.wait_weight), share(pe.wait_pixel), share(pe.wait_psum_in + pe.wait_psum_out),
              share(pe.finished), share(pe.unmapped),
              outputs_ok && traffic_ok ? "exact"
              : outputs_ok             ? "TRAFFIC DIFFERS"
                                       : "OUTPUTS DIFFER");
  totals.seconds += seconds;
  totals.milliseconds += ms;
  totals.cycles += time.simulated_cycles;
  totals.passes += time.passes;
  totals.mismatches += !outputs_ok + !traffic_ok + (time.cycles < time.ideal_cycles);
  char text[256];
  std::snprintf(text, sizeof text,
                "%s\"%s\": {\"cycles\": %lld, \"ideal_cycles\": %lld, \"measured_ratio\": %.4f}",
                totals.json.empty() ? "" : ", ", line.layer.name.c_str(), (long long)time.cycles,
                (long long)time.ideal_cycles, ratio);
  totals.json += text;
}

struct Variant {
  const char* name;
  std::function<void(RowStationaryChip&)> change;
};

void print_sensitivity(const RowStationaryChip& described) {
  const Variant variants[] = {
      {"as described", [](RowStationaryChip&) {}},
      {"second adder for partial sums", [](RowStationaryChip& c) { c.overlap.shared_adder = false; }},
      {"no weights ahead", [](RowStationaryChip& c) { c.overlap.weight_run_ahead = false; }},
      {"pixels ahead", [](RowStationaryChip& c) { c.overlap.pixel_run_ahead = true; }},
      {"start when loaded", [](RowStationaryChip& c) { c.overlap.start_when_loaded = true; }},
      {"dual-port banks", [](RowStationaryChip& c) { c.overlap.single_port_banks = false; }},
      {"psum FIFO of 8 words", [](RowStationaryChip& c) { c.overlap.psum_fifo_words = 8; }},
      {"psum FIFO of 16 words", [](RowStationaryChip& c) { c.overlap.psum_fifo_words = 16; }},
      {"psum FIFO of 64 words", [](RowStationaryChip& c) { c.overlap.psum_fifo_words = 64; }},
      {"1 pipeline stage", [](RowStationaryChip& c) { c.pipeline_stages = 1; }},
      {"filter network x 2", [](RowStationaryChip& c) { c.filter_words_per_cycle *= 2; }},
      {"filter network / 2", [](RowStationaryChip& c) { c.filter_words_per_cycle /= 2; }},
      {"pixel network x 2", [](RowStationaryChip& c) { c.pixel_words_per_cycle *= 2; }},
      {"psum networks x 2",
       [](RowStationaryChip& c) {
         c.psum_in_words_per_cycle *= 2;
         c.psum_out_words_per_cycle *= 2;
       }},
      {"psum networks / 2",
       [](RowStationaryChip& c) {
         c.psum_in_words_per_cycle /= 2;
         c.psum_out_words_per_cycle /= 2;
       }},
      {"links of 1 word", [](RowStationaryChip& c) { c.link_words_per_cycle = 1; }},
  };
  std::printf("\nsimulated / measured processing time, one thing changed at a time\n");
  for (const Variant& variant : variants) {
    RowStationaryChip chip = described;
    variant.change(chip);
    std::printf("%-30s", variant.name);
    double total = 0;
    for (const ChipLayer& line : kAlexnetOnChip) {
      const double ms = time_layer(chip, line.layer, line.mapping).milliseconds(chip);
      total += ms;
      std::printf(" %6.3f", ms / line.measured_ms);
    }
    std::printf("  total %6.3f\n", total / claims::kMeasuredTotalMs);
  }
}

}  // namespace

int main() {
  const RowStationaryChip chip =
      read_row_stationary_chip(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml");
  std::printf(
      "%-6s %6s %9s %9s %7s %7s | share of PE cycles, %%: multiply, accumulate, wait weight, pixel, "
      "psum, finished, unmapped\n",
      "", "passes", "cycles", "ideal", "ms", "ratio");
  Totals totals;
  for (const ChipLayer& line : kAlexnetOnChip) run_line(chip, line, totals);
  print_sensitivity(chip);
  const double total_ratio = totals.milliseconds / claims::kMeasuredTotalMs;
  std::printf("\n%lld passes, %lld cycles through the clock in %.1f s on one thread\n",
              (long long)totals.passes, (long long)totals.cycles, totals.seconds);
  std::printf(
      "{\"figure\": \"array_simulator\", \"layers\": {%s}, \"total_ms\": %.2f, \"total_measured_ratio\": "
      "%.4f, "
      "\"simulated_cycles\": %lld, \"seconds\": %.2f, \"simulated_cycles_per_s\": %.0f, \"mismatches\": "
      "%lld}\n",
      totals.json.c_str(), totals.milliseconds, total_ratio, (long long)totals.cycles, totals.seconds,
      double(totals.cycles) / totals.seconds, (long long)totals.mismatches);
  return totals.mismatches == 0 && totals.cycles > 0 ? 0 : 1;
}
