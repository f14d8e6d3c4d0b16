// The zoo's modern networks on both targets. Overlay: quantised on seeded data (8-bit inputs), placed by
// estimated time, run on the cycle simulator, every output compared with the integer reference. Generated
// hardware: the small form of each on the largest device, one image through the Verilog, compared with the
// integer evaluation.
//
//   modern_networks [--quick] [NETWORK]    --quick: every fourth network on generated hardware; or one alone
#include <algorithm>
#include <cstring>

#include "pipeline/generated_designs.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/quantize/integer_borders.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

using namespace tilewright;

namespace {

constexpr const char* kDevice = "f1-vu9p";

struct Totals {
  int networks = 0, overlay_mismatches = 0, generated = 0, rtl_mismatches = 0, refused = 0;
  double max_host_time_share = 0, max_crossing_time_share = 0;
};

void run_on_overlay(const zoo::Network& network, const OverlayHardware& hardware, Totals& totals) {
  const Graph graph = network.build({});
  QuantizeOptions options;
  options.threads = 2;
  const Graph integer =
      integerize(with_integer_borders(quantize(optimize(graph), zoo::seeded_inputs(graph), options)));
  const Compilation compilation = compile(integer, hardware);
  const LayerTable table = layer_table(compilation);
  overlay::ProgramEngineOptions engine;
  engine.kind = overlay::ProgramEngineKind::kCycle;
  Session session(std::make_shared<const Engine>(compilation.bundle, Execution::kAsPlaced), engine);
  Session reference(std::make_shared<const Engine>(compilation.bundle, Execution::kOnHost));
  const std::vector<Tensor> inputs = zoo::seeded_inputs(compilation.bundle.graph, 7);
  const std::vector<Tensor> outputs = session.run(inputs), expected = reference.run(inputs);
  int different = 0;
  for (size_t i = 0; i < outputs.size(); ++i) different += !outputs[i].identical(expected[i]);
  totals.overlay_mismatches += different;
  totals.max_host_time_share = std::max(totals.max_host_time_share, table.host_time_share());
  totals.max_crossing_time_share = std::max(totals.max_crossing_time_share, table.crossing_time_share());
  std::printf(
      "%-20s %s: %8.3f ms, %.1f %% of it on the host (%d nodes), %.1f %% to hand over %ld bytes, %s\n",
      network.name, hardware.name.c_str(), 1e3 * table.total_seconds(), 100 * table.host_time_share(),
      table.host.nodes, 100 * table.crossing_time_share(), long(table.host.crossing_bytes),
      different == 0 ? "bit-identical" : "DIFFERENT");
  std::fflush(stdout);
}

std::vector<int32_t> random_image(const pipeline::Network& network) {
  const pipeline::NetworkTensor& input = network.tensors[size_t(network.input)];
  Random random(11);
  std::vector<int32_t> image(size_t(input.shape.elements()));
  for (int32_t& value : image) value = int32_t(random.between(-128, 127));
  return image;
}

void generate_hardware(const zoo::Network& network, Totals& totals) {
  try {
    const Graph graph = network.build(network.small);
    const GeneratedDesign generated =
        figures::generate_for(hardware_form(graph, {}, zoo::seeded_inputs(graph), 2), kDevice, "");
    ++totals.generated;
    const auto rtl =
        figures::run_verilog(generated, figures::memory_of(kDevice, ""), {random_image(generated.network)});
    const bool equal = rtl.mismatches == 0 && rtl.cycles_equal;
    totals.rtl_mismatches += equal ? 0 : 1;
    std::printf("%-20s %s: %s, %lu cycles in Verilog, %s\n", network.name, kDevice,
                generated.allocated.allocation.streaming ? "stages" : "processors",
                static_cast<unsigned long>(rtl.cycles), equal ? "equal" : "DIFFERENT");
  } catch (const Error& error) {
    ++totals.refused;
    std::printf("%-20s %s: refused: %s\n", network.name, kDevice, error.what());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  Totals totals;
  const std::string only = argc > 1 && !quick ? argv[1] : "";
  for (const zoo::Network& network : zoo::modern_networks()) {
    if (!only.empty() && only != network.name) continue;
    run_on_overlay(network, hardware, totals);
    if (!quick || totals.networks % 4 == 0) generate_hardware(network, totals);
    ++totals.networks;
  }
  std::printf(
      "{\"figure\": \"modern_networks\", \"networks\": %d, \"overlay_mismatches\": %d, "
      "\"max_host_time_share\": %.4f, \"max_crossing_time_share\": %.4f, \"generated\": %d, "
      "\"rtl_mismatches\": %d, \"refused\": %d}\n",
      totals.networks, totals.overlay_mismatches, totals.max_host_time_share, totals.max_crossing_time_share,
      totals.generated, totals.rtl_mismatches, totals.refused);
  return totals.networks >= (only.empty() ? 20 : 1) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "modern_networks: %s\n", error.what());
  return 1;
}
