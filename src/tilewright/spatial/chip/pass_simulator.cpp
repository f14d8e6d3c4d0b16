// The clock of a pass. PEs act before networks in a cycle, so what is sent in one cycle is used in a later
// one.
#include "tilewright/spatial/chip/pass_simulator.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/spatial/chip/networks.h"

namespace tilewright {
namespace {

// Far beyond what a pass can take: everything one after the other.
int64_t cycle_limit(const PassContext& context, const PassArray& array) {
  const PassShape& shape = context.pass.shape;
  const RowStationaryLayer& layer = context.layer;
  const int64_t psums = shape.images * shape.rows * layer.output_width() * shape.filters;
  const int64_t pixels = shape.images * shape.channels * pixel_rows(layer, shape.rows) * layer.width;
  const int64_t work = ideal_cycles(layer, context.mapping, shape) * 2;
  const int64_t weights = shape.filters * shape.channels * layer.kernel_height * layer.kernel_width;
  return 1000 + 2 * (4 * psums + pixels + weights + work * array.chain_length) +
         context.chip.pipeline_stages * psums * array.chain_length;
}

PassResult collect(const PassContext& context, const PassArray& array, int64_t cycles,
                   const FilterNetwork& filters, const PixelNetwork& pixels, const PsumNetworks& psums) {
  PassResult result;
  result.cycles = cycles;
  result.bank_conflict_cycles = psums.bank_conflict_cycles();
  PeCycles& total = result.pe_cycles;
  ArrayTraffic& traffic = result.traffic;
  for (const ProcessingElement& pe : array.pes) {
    total.add(pe.cycles(), 1);
    total.finished += cycles - pe.cycles().total();
    traffic.psum_spad_reads += pe.psum_reads();
    traffic.psum_spad_writes += pe.psum_writes();
    traffic.link_words += pe.handed_up();
  }
  total.unmapped += (context.chip.rows * context.chip.columns - int64_t(array.pes.size())) * cycles;
  traffic.macs = traffic.filter_spad_reads = traffic.pixel_spad_reads = total.multiply;
  traffic.weight_buffer_reads = filters.words();
  traffic.filter_deliveries = traffic.filter_spad_writes = filters.deliveries();
  traffic.buffer_pixel_reads = pixels.words();
  traffic.pixel_deliveries = traffic.pixel_spad_writes = pixels.deliveries();
  traffic.buffer_psum_reads = traffic.psum_in_deliveries = psums.words_in();
  traffic.buffer_psum_writes = traffic.psum_out_words = psums.words_out();
  traffic.link_words -= psums.words_out();  // the tops hand to the network, not to a neighbour
  return result;
}

}  // namespace

PassResult simulate_pass(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                         const RowStationaryMapping& mapping, const Pass& pass, const LayerOperands& operands,
                         const BlockPsums& psums) {
  const PassContext context{chip, layer, mapping, pass, operands, psums};
  PassArray array(chip, layer, mapping, pass.shape);
  FilterNetwork filter_network(context, array);
  PixelNetwork pixel_network(context, array);
  PsumNetworks psum_networks(context, array);
  const int64_t limit = cycle_limit(context, array);
  std::vector<int64_t> wake(array.pes.size(), 0);
  int64_t cycle = 0;
  for (; !psum_networks.finished() || !pixel_network.finished() || !filter_network.finished(); ++cycle) {
    for (size_t k = 0; k < wake.size(); ++k) {
      if (wake[k] <= cycle) wake[k] = array.pes[k].step(cycle);
    }
    psum_networks.step(cycle);
    filter_network.step();
    pixel_network.step();
    TILEWRIGHT_CHECK(cycle < limit, "a pass of the array simulator does not end");
  }
  // What runs ahead for the next pass uses the networks during this one.
  if (chip.overlap.weight_run_ahead) cycle = std::max(cycle, filter_network.busy_cycles());
  if (chip.overlap.pixel_run_ahead) {
    cycle = std::max(cycle, ceil_div(pixel_network.words(), chip.pixel_words_per_cycle));
  }
  return collect(context, array, cycle, filter_network, pixel_network, psum_networks);
}

}  // namespace tilewright
