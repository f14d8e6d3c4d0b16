// overlay_area_fit: the weights of the overlay's area model from measured runs.
//
//   overlay_area_fit MEASURED [OUTPUT]
//
// Least squares with weights that are not negative, of relative errors, over matrix cores and whole overlays.
// Overlays take minutes each and are few, so each is judged by a fit without it (leave one out); the weights
// that are written come from all of them. OUTPUT becomes area_coefficients.cpp (then to be formatted).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "calibration/least_squares.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/implement/overlay_area.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Run {
  std::string configuration;
  OverlayHardware hardware;
  bool core = false;
  synthesis::Resources counted;
};

Run parse_run(const std::string& line) {
  Run run;
  std::map<std::string, int64_t> numbers;
  std::istringstream words(line);
  std::string word;
  words >> word;
  run.core = word == "gemm_core";
  run.configuration = line.substr(0, line.find(" seed="));
  while (words >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorKind::kInvalidInput, "not a run: '" + line + "'", "NAME=value is expected");
    }
    numbers[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  const auto number = [&](const char* name) { return numbers.count(name) != 0 ? numbers[name] : 0; };
  OverlayHardware& h = run.hardware;
  h.isa = IsaVersion::kWide;
  h.input_bits = h.weight_bits = h.output_bits = int(number("bits"));
  h.batch = int(number("batch"));
  h.block_in = int(number("in"));
  h.block_out = int(number("out"));
  if (!run.core) {
    h.uop_buffer_bytes = number("uop");
    h.input_buffer_bytes = number("inp");
    h.weight_buffer_bytes = number("wgt");
    h.accumulator_buffer_bytes = number("acc");
    h.alu_lanes = int(number("alu"));
    h.gemm_beside_alu = number("beside") != 0;
    h.memory_width_bits = int(number("port"));
    h.command_queue_depth = int(number("queue"));
    h.read_queue_beats = int(number("read"));
  }
  run.counted = {number("lut"), number("ff"), 0, number("dsp"), number("bram"), 0};
  return run;
}

std::vector<double> features_of(const Run& run) {
  return run.core ? core_area_features(run.hardware) : area_features(run.hardware);
}

// Of all runs but one.
std::vector<double> fitted(const std::vector<Run>& runs, bool lut, const Run* without = nullptr) {
  std::vector<LeastSquaresRow> rows;
  for (const Run& run : runs) {
    if (&run == without) continue;
    const auto value = double(lut ? run.counted.lut : run.counted.ff);
    rows.push_back({features_of(run), value, 1 / std::pow(value + 50, 2)});
  }
  return nonnegative_least_squares(rows);
}

double estimate(const std::vector<double>& weights, const Run& run) {
  const std::vector<double> features = features_of(run);
  return std::inner_product(features.begin(), features.end(), weights.begin(), 0.0);
}

// Largest and median of the sizes of errors, in percent.
struct Errors {
  std::vector<double> percent;
  void add(double estimate, int64_t counted) {
    percent.push_back(counted == 0 ? (estimate == 0 ? 0 : 100) : 100 * (estimate / double(counted) - 1));
  }
  double worst() const {
    double most = 0;
    for (const double e : percent) most = std::max(most, std::abs(e));
    return most;
  }
  double median() const {
    std::vector<double> sizes;
    for (const double e : percent) sizes.push_back(std::abs(e));
    std::sort(sizes.begin(), sizes.end());
    return sizes.empty() ? 0 : sizes[sizes.size() / 2];
  }
};

std::string list(const std::vector<double>& weights) {
  std::string text = "{";
  for (const double w : weights) text += fmt::format("{}{:.5g}", text.size() == 1 ? "" : ", ", w);
  return text + "}";
}

int fit(const std::string& measured, const std::string& output) {
  std::vector<Run> runs;
  std::istringstream lines(read_text_file(measured));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') runs.push_back(parse_run(line));
  }
  const std::vector<double> lut = fitted(runs, true), ff = fitted(runs, false);
  for (size_t i = 0; i < lut.size(); ++i) {
    fmt::print("{:<20} {:>10.3f} LUT {:>10.3f} FF\n", area_feature_names()[i], lut[i], ff[i]);
  }
  Errors lut_errors, ff_errors, bram_errors, dsp_errors;
  int64_t overlays = 0;
  for (const Run& run : runs) {
    const Run* without = run.core ? nullptr : &run;
    const double l = estimate(fitted(runs, true, without), run),
                 f = estimate(fitted(runs, false, without), run);
    const synthesis::Resources blocks = run.core ? run.counted : overlay_blocks(run.hardware);
    fmt::print("LUT {} ({:+.1f} %) FF {} ({:+.1f} %) DSP {} ({}) BRAM {} ({}): {}\n", run.counted.lut,
               100 * (l / double(run.counted.lut) - 1), run.counted.ff,
               100 * (f / double(run.counted.ff) - 1), run.counted.dsp, blocks.dsp, run.counted.bram,
               blocks.bram, run.configuration);
    if (run.core) continue;
    ++overlays;
    bram_errors.add(double(blocks.bram), run.counted.bram);
    dsp_errors.add(double(blocks.dsp), run.counted.dsp);
    lut_errors.add(l, run.counted.lut);
    ff_errors.add(f, run.counted.ff);
  }
  fmt::print(
      "{} runs; {} overlays, each by a fit without it: LUT median {:.1f} %, worst {:.1f} %, FF median "
      "{:.1f} %, worst {:.1f} %; BRAM worst {:.1f} %, DSP worst {:.1f} %\n",
      runs.size(), overlays, lut_errors.median(), lut_errors.worst(), ff_errors.median(), ff_errors.worst(),
      bram_errors.worst(), dsp_errors.worst());
  if (output.empty()) return 0;
  write_text_file(
      output,
      fmt::format(
          "// Written by overlay_area_fit from the {} Yosys runs of bench/overlay_area/measured.txt.\n"
          "#include \"tilewright/overlay/implement/area_coefficients.h\"\n\n"
          "#include \"tilewright/overlay/implement/overlay_area.h\"\n\n"
          "namespace tilewright::overlay {{\n\n"
          "const AreaCoefficients& area_coefficients() {{\n"
          "  static const AreaCoefficients weights = {{{},\n {}}};\n  return weights;\n}}\n\n"
          "const AreaBand& overlay_area_band() {{\n"
          "  static const AreaBand band = {{{}, {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f}, {:.1f}}};\n"
          "  return band;\n}}\n\n}}  // namespace tilewright::overlay\n",
          runs.size(), list(lut), list(ff), overlays, lut_errors.median(), lut_errors.worst(),
          ff_errors.median(), ff_errors.worst(), bram_errors.worst(), dsp_errors.worst()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: overlay_area_fit MEASURED [OUTPUT]\n");
    return 1;
  }
  try {
    return fit(argv[1], argc == 3 ? argv[2] : "");
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "overlay_area_fit: %s\n", error.what());
    return 1;
  }
}
