// Random matrices of constants as adder graphs, each unit alone: tables, flip-flops and depth by Yosys for
// UltraScale+, beside the tables that FINN's documentation of its distributed-arithmetic unit gives for such
// matrices (random weights, one vector per cycle, no multipliers). Five seeds each, weights uniform over
// their type; "half zero": each weight is zero by chance. Vectors go through the Verilog of every unit of 16
// x 16 and of one of each larger kind, and through Yosys' cells of those of 16 x 16; and 256 x 256 weights of
// 3 bits are solved.
//
//   constant_weights [--quick]    --quick: 16 x 16 alone, two seeds, and the large solution
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "cpu_time.h"
#include "support/netlist/evaluator_testing.h"
#include "support/pipeline/matrix_unit_testing.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/pipeline/constant/solve.h"

using namespace tilewright;
using namespace tilewright::pipeline;

namespace {

struct Kind {
  const char* name;
  int size, input_bits, weight_bits;
  bool signed_inputs, half_zero;
  int64_t published;  // tables
};

constexpr Kind kKinds[] = {{"int8_16x16", 16, 8, 8, true, false, 4387},
                           {"uint4_int4_16x16", 16, 4, 4, false, false, 1912},
                           {"int8_64x64", 64, 8, 8, true, false, 47632},
                           {"uint4_int4_64x64", 64, 4, 4, false, false, 18424},
                           {"int8_64x64_half_zero", 64, 8, 8, true, true, 29948}};

MatrixCase make_matrix(const Kind& kind, uint64_t seed) {
  Random random(seed);
  MatrixCase one{
      uniform_matrix(kind.size, kind.size, kind.weight_bits, random),
      std::vector<NumberRange>(size_t(kind.size), full_range(kind.input_bits, kind.signed_inputs))};
  if (kind.half_zero) {
    for (int32_t& weight : one.matrix.weights) {
      if (random.chance(0.5)) weight = 0;
    }
  }
  return one;
}

// In a model of the netlist, which is fast, and in Icarus: the unit's Verilog, and its cells.
int64_t simulated_mismatches(const MatrixUnit& unit, const MatrixCase& one, const SynthesisedUnit& made,
                             const std::filesystem::path& folder, int64_t& vectors) {
  Random random(7);
  netlist::Evaluator evaluator(unit_design(unit));
  int64_t mismatches = unit_mismatches(evaluator, one, unit.latency, 1000, true, random);
  vectors += 1000;
  if (!made.netlist.empty()) {
    mismatches += icarus_mismatches(unit, one, 300, {}, folder / "verilog", random);
    mismatches += icarus_mismatches(unit, one, 300, made.netlist, folder / "cells", random);
    vectors += 600;
  }
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) try {
  bool quick = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--kind") == 0 && i + 1 < argc) only = argv[++i];
  }
  std::string rows;
  int64_t cases = 0, mismatches = 0, vectors = 0;
  double worst = 0;
  for (const Kind& kind : kKinds) {
    if ((quick && kind.size > 16) || (!only.empty() && only != kind.name)) continue;
    for (uint64_t seed = 1; seed <= (quick ? 2 : 5); ++seed) {
      const MatrixCase one = make_matrix(kind, seed);
      const SolvedMatrix solved = solve_matrix(one.matrix, one.ranges);
      const MatrixUnit unit = make_matrix_unit(solved.graph);
      const TemporaryFolder folder(std::filesystem::temp_directory_path(), "tilewright-constant-weights");
      const SynthesisedUnit made = synthesise_unit(unit, folder.path(), kind.size == 16);
      mismatches += simulated_mismatches(unit, one, made, folder.path(), vectors);
      if (made.dsp != 0) ++mismatches;
      const double ratio = double(made.lut) / double(kind.published);
      worst = std::max(worst, ratio);
      ++cases;
      const std::string row = fmt::format(
          "{{\"matrix\": \"{}\", \"seed\": {}, \"lut\": {}, \"published\": {}, \"ratio\": {:.4f}, \"ff\": "
          "{}, "
          "\"depth\": {}, \"latency\": {}, \"adders\": {}, \"counted_by_graph\": {}, \"lower_bound\": {}, "
          "\"lower_bound_sums\": {}, \"solver_s\": {:.2f}}}",
          kind.name, seed, made.lut, kind.published, ratio, made.ff, solved.graph.depth(), unit.latency,
          solved.graph.adders(), solved.graph.luts(), solved.bound.luts, solved.bound.sums,
          solved.cpu_seconds);
      std::printf("%s\n", row.c_str());
      std::fflush(stdout);
      rows += (rows.empty() ? "" : ", ") + row;
    }
  }
  const Kind large{"int8_int3_256x256", 256, 8, 3, true, false, 0};
  const MatrixCase one = make_matrix(large, 1);
  MatrixSolveOptions options;
  options.cpu_seconds = 120;
  SolvedMatrix solved;
  const double seconds = cpu_seconds_of([&] { solved = solve_matrix(one.matrix, one.ranges, options); });
  Random random(3);
  for (int64_t i = 0; i < 1000; ++i) {
    const std::vector<int64_t> vector = probing_vector(one, i, random);
    if (solved.graph.evaluate(vector) != multiply(one.matrix, vector)) ++mismatches;
  }
  std::printf(
      "256 x 256, 3 bits: %ld tables, %ld adders, depth %d, at least %ld tables and %ld sums; %d searches\n",
      long(solved.graph.luts()), long(solved.graph.adders()), solved.graph.depth(), long(solved.bound.luts),
      long(solved.bound.sums), solved.attempts);
  std::printf(
      "{\"figure\": \"constant_weights\", \"cases\": %ld, \"worst_ratio_to_published\": %.4f, "
      "\"mismatches\": %ld, \"vectors\": %ld, \"solver_256_s\": %.1f, \"searches_256\": %d, "
      "\"lut_256\": %ld, \"matrices\": [%s]}\n",
      long(cases), worst, long(mismatches), long(vectors), seconds, solved.attempts,
      long(solved.graph.luts()), rows.c_str());
  return mismatches == 0 && worst <= 1 && seconds <= 120 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
