// One random layer on one random overlay under one random schedule: compiled, run on the functional simulator
// and compared with the reference kernels. Everything follows from the seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tilewright/graph/graph.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright::random_layers {

enum class Kind {
  kConv,
  kDepthwise,
  kGroup,
  kTransposed,
  kDense,
  kMaxPool,
  kAveragePool,
  kAdd,
  kRequantize,
  kMultiply,
  kMove,
  kMatrices,  // products of two activations
  kSoftmax,
  kNorm
};
inline constexpr int kKinds = int(Kind::kNorm) + 1;
constexpr bool works_on_tokens(Kind kind) { return kind >= Kind::kMatrices; }
const char* kind_name(Kind kind);

// A graph whose last node is one integer operator, inputs for it, and what the reference kernels make of
// them.
struct Case {
  Graph graph;
  std::map<ValueId, Tensor> inputs;
  Tensor expected;
};

// The operator of a case; sizes depend on the overlay so that tiles are needed.
Case make_case(uint64_t seed, Kind kind, const OverlayHardware& hardware);

// Of those that work on tokens, for overlays with row_functions.
Case make_token_case(uint64_t seed, Kind kind, const OverlayHardware& hardware);

// A small addition with these multipliers, bias and shift; its output and operands are drawn.
Case make_addition(uint64_t seed, const AddParameters& parameters, const OverlayHardware& hardware);

struct Result {
  Kind kind = Kind::kConv;
  std::string hardware;     // file the overlay is made from
  std::string description;  // operator, shapes, schedule
  bool tiled_in_two_dimensions = false;
  bool overflows_cache = false;
  bool two_threads = false;
  bool folded = false;
  bool wide = false;  // activations of 16 bits
  bool default_schedule = false;
  std::string estimate_problem;  // empty: traffic and micro-ops are as estimated
  std::string problem;           // empty: bit-identical and accepted by the checker
};

// The overlays that cases draw from: names of files under `folder` (the project's hardware/).
inline constexpr const char* kHardwareFiles[] = {
    "vta-default",         "vta-small",   "vta-1x8",      "vta-2x16",     "vta-1x32",     "overlay-16x16",
    "overlay-4x16x16",     "overlay-8x8", "overlay-tiny", "overlay-w4a4", "overlay-w2a2", "overlay-w1a1",
    "overlay-1x8x8-batch8"};

// The overlay of a case: a file of `folder`, at times with another micro-op cache.
OverlayHardware pick_hardware(uint64_t seed, const std::string& folder, std::string* file);
// The kind of operator of a case, one that the overlay can run: 1-bit weights do not do everything.
Kind pick_kind(uint64_t seed, const OverlayHardware& hardware);
// A random schedule that fits, or the default one.
overlay::Schedule pick_schedule(uint64_t seed, const overlay::OverlayLayer& layer,
                                const OverlayHardware& hardware);

// What the program checker looks at.
overlay::ProgramImage image_of(const overlay::OverlayProgram& program);

Result run_case(uint64_t seed, const std::string& hardware_folder);

struct Summary {
  int64_t cases = 0, mismatches = 0, tiled = 0, overflowing = 0, two_threads = 0, default_schedules = 0,
          folded = 0, wide = 0;
  std::map<std::string, int64_t> by_kind, by_hardware;
  int64_t estimate_differences = 0;
  std::string first_problem, first_estimate_problem;

  // Whether every kind and enough overlays, tiled layers and overflowing caches are among the cases.
  bool covers_every_category() const;
};

// Cases first_seed ... first_seed + count - 1.
Summary run_cases(uint64_t first_seed, int64_t count, const std::string& hardware_folder);
// Counts by category, one per line.
std::string describe(const Summary& summary);

}  // namespace tilewright::random_layers
