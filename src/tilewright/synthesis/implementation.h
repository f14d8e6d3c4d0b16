// The choices that the tools of the open hardware flow leave to their user: how Yosys maps logic and how
// nextpnr places and routes. The defaults are those of the tools' own flows for each family.
#pragma once

#include <string>

#include "tilewright/base/error.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::synthesis {

// What maps logic to look-up tables. kUsual is the default of run_yosys: ABC9 on iCE40, ABC
// on the others. ABC2 is a second pass of ABC before the mapping one (iCE40, ECP5).
enum class LutMapper { kUsual, kAbc, kAbc2, kAbc9 };
// The algorithms of nextpnr 0.4: analytic (HeAP) and annealing; negotiated congestion on a heap of arcs or on
// boxes.
enum class Placer { kHeap, kAnnealing };
enum class Router { kRouter1, kRouter2 };

struct ImplementationOptions {
  // Synthesis.
  double synthesis_mhz = 0;  // delay target of the mapper (ABC9 alone has one); 0: as fast as it can
  bool flatten = true;       // false: modules keep their borders
  LutMapper mapper = LutMapper::kUsual;
  bool map_registers = false;  // the mapper sees flip-flops too (-dff)
  bool retime = false;         // registers move through logic (ABC's retiming)
  bool carry_chains = true;    // false: adders of look-up tables
  bool clock_enables = true;   // false: enables as logic (iCE40, ECP5)
  int least_enabled = 0;       // an enable of fewer flip-flops becomes logic (iCE40); 0: no limit
  bool dsp = true;             // multipliers in hard blocks where the part has them
  bool block_memory = true;    // false: memories of flip-flops or tables
  bool table_memory = true;    // false: no memories of look-up tables (AMD, ECP5)
  // Place and route.
  double place_mhz = 12;
  Placer placer = Placer::kHeap;
  double heap_alpha = 0.1, heap_beta = 0.9;  // pull of legal positions; weight of the spreading
  int heap_criticality_exponent = 2, heap_timing_weight = 10;
  Router router = Router::kRouter1;
  bool timing_ripup = false;  // critical arcs are routed again
  int seed = 1;

  bool operator==(const ImplementationOptions&) const = default;
  // Values that a tool does not take, and options that `family`'s flow does not have.
  void verify(DeviceFamily family, Diagnostics& diagnostics) const;
};

// One line of JSON with all fields; parses back to equal options.
std::string print_implementation(const ImplementationOptions& options);
// Absent fields take the defaults. Errors (invalid input): all problems at once.
ImplementationOptions parse_implementation(const std::string& json, const std::string& source_name);

}  // namespace tilewright::synthesis
