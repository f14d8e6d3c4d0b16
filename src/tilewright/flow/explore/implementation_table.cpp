// Categories are the numbers of their enumerations: trees split them freely. Sizes are taken as they are.
// Derived features are known before synthesis: closed forms of the description (products, which trees cannot
// form from factors) and the cycles of the work that performance is measured by, milliseconds of simulation.
#include <iterator>
#include <limits>

#include "tilewright/flow/explore/study_tables.h"
#include "tilewright/overlay/implement/implementation_performance.h"

namespace tilewright {
namespace {

using overlay::ImplementationRow;

struct Feature {
  const char* name;
  double (*value)(const ImplementationRow&);
};

constexpr Feature kChoices[] = {
    {"operand_bits", [](const ImplementationRow& r) { return double(r.hardware.input_bits); }},
    {"batch", [](const ImplementationRow& r) { return double(r.hardware.batch); }},
    {"block_in", [](const ImplementationRow& r) { return double(r.hardware.block_in); }},
    {"block_out", [](const ImplementationRow& r) { return double(r.hardware.block_out); }},
    {"accumulator_bits", [](const ImplementationRow& r) { return double(r.hardware.accumulator_bits); }},
    {"uop_buffer_bytes", [](const ImplementationRow& r) { return double(r.hardware.uop_buffer_bytes); }},
    {"input_buffer_bytes", [](const ImplementationRow& r) { return double(r.hardware.input_buffer_bytes); }},
    {"weight_buffer_bytes",
     [](const ImplementationRow& r) { return double(r.hardware.weight_buffer_bytes); }},
    {"accumulator_buffer_bytes",
     [](const ImplementationRow& r) { return double(r.hardware.accumulator_buffer_bytes); }},
    {"dram_bytes", [](const ImplementationRow& r) { return double(r.hardware.dram_bytes); }},
    {"memory_width_bits", [](const ImplementationRow& r) { return double(r.hardware.memory_width_bits); }},
    {"alu_slices", [](const ImplementationRow& r) { return double(r.hardware.alu_slices()); }},
    {"command_queue_depth",
     [](const ImplementationRow& r) { return double(r.hardware.command_queue_depth); }},
    {"read_queue_beats", [](const ImplementationRow& r) { return double(r.hardware.read_queue_beats); }},
    {"wide_isa", [](const ImplementationRow& r) { return double(r.hardware.isa == IsaVersion::kWide); }},
    {"gemm_beside_alu", [](const ImplementationRow& r) { return double(r.hardware.gemm_beside_alu); }},
    {"partition_factor",
     [](const ImplementationRow& r) { return double(r.hardware.memory_partition.factor); }},
    {"partition_kind",
     [](const ImplementationRow& r) { return double(int(r.hardware.memory_partition.kind)); }},
    {"partition_dimension",
     [](const ImplementationRow& r) { return double(int(r.hardware.memory_partition.dimension)); }},
    {"synthesis_mhz", [](const ImplementationRow& r) { return r.options.synthesis_mhz; }},
    {"flatten", [](const ImplementationRow& r) { return double(r.options.flatten); }},
    {"mapper", [](const ImplementationRow& r) { return double(int(r.options.mapper)); }},
    {"map_registers", [](const ImplementationRow& r) { return double(r.options.map_registers); }},
    {"retime", [](const ImplementationRow& r) { return double(r.options.retime); }},
    {"carry_chains", [](const ImplementationRow& r) { return double(r.options.carry_chains); }},
    {"clock_enables", [](const ImplementationRow& r) { return double(r.options.clock_enables); }},
    {"least_enabled", [](const ImplementationRow& r) { return double(r.options.least_enabled); }},
    {"dsp_blocks", [](const ImplementationRow& r) { return double(r.options.dsp); }},
    {"block_memory", [](const ImplementationRow& r) { return double(r.options.block_memory); }},
    {"table_memory", [](const ImplementationRow& r) { return double(r.options.table_memory); }},
    {"place_mhz", [](const ImplementationRow& r) { return r.options.place_mhz; }},
    {"placer", [](const ImplementationRow& r) { return double(int(r.options.placer)); }},
    {"heap_alpha", [](const ImplementationRow& r) { return r.options.heap_alpha; }},
    {"heap_beta", [](const ImplementationRow& r) { return r.options.heap_beta; }},
    {"heap_criticality_exponent",
     [](const ImplementationRow& r) { return double(r.options.heap_criticality_exponent); }},
    {"heap_timing_weight", [](const ImplementationRow& r) { return double(r.options.heap_timing_weight); }},
    {"router", [](const ImplementationRow& r) { return double(int(r.options.router)); }},
    {"timing_ripup", [](const ImplementationRow& r) { return double(r.options.timing_ripup); }},
    {"seed", [](const ImplementationRow& r) { return double(r.options.seed); }},
};

int64_t lanes(const OverlayHardware& h) { return int64_t{h.batch} * h.block_out; }
int64_t alu_lanes(const OverlayHardware& h) { return lanes(h) / h.alu_slices(); }

// Arrays that each memory lies in.
int arrays(const OverlayHardware& h, MemoryPartition::Dimension dimension) {
  return h.memory_partition.dimension == dimension ? h.memory_partition.factor : 1;
}

constexpr Feature kDerived[] = {
    {"products", [](const ImplementationRow& r) { return double(r.hardware.macs_per_uop()); }},
    {"product_area",
     [](const ImplementationRow& r) {
       return double(r.hardware.macs_per_uop() * r.hardware.input_bits * r.hardware.weight_bits);
     }},
    {"lanes", [](const ImplementationRow& r) { return double(lanes(r.hardware)); }},
    {"alu_lanes", [](const ImplementationRow& r) { return double(alu_lanes(r.hardware)); }},
    {"alu_bits",
     [](const ImplementationRow& r) { return double(alu_lanes(r.hardware) * r.hardware.accumulator_bits); }},
    {"input_word_bits", [](const ImplementationRow& r) { return 8.0 * double(r.hardware.input_bytes()); }},
    {"weight_word_bits", [](const ImplementationRow& r) { return 8.0 * double(r.hardware.weight_bytes()); }},
    {"accumulator_word_bits",
     [](const ImplementationRow& r) { return 8.0 * double(r.hardware.accumulator_bytes()); }},
    {"output_word_bits", [](const ImplementationRow& r) { return 8.0 * double(r.hardware.output_bytes()); }},
    {"uop_words", [](const ImplementationRow& r) { return double(r.hardware.uop_depth()); }},
    {"input_words", [](const ImplementationRow& r) { return double(r.hardware.input_depth()); }},
    {"weight_words", [](const ImplementationRow& r) { return double(r.hardware.weight_depth()); }},
    {"accumulator_words", [](const ImplementationRow& r) { return double(r.hardware.accumulator_depth()); }},
    {"scratchpad_bytes",
     [](const ImplementationRow& r) {
       const OverlayHardware& h = r.hardware;
       return double(h.uop_buffer_bytes + h.input_buffer_bytes + h.weight_buffer_bytes +
                     h.accumulator_buffer_bytes);
     }},
    {"arrays_of_words",
     [](const ImplementationRow& r) {
       return double(arrays(r.hardware, MemoryPartition::Dimension::kDepth));
     }},
    {"arrays_of_bits",
     [](const ImplementationRow& r) {
       return double(arrays(r.hardware, MemoryPartition::Dimension::kWidth));
     }},
    {"least_compute_cycles",
     [](const ImplementationRow& r) { return overlay::performance_bound(r.hardware).compute_cycles; }},
    {"least_port_cycles",
     [](const ImplementationRow& r) { return overlay::performance_bound(r.hardware).port_cycles; }},
    {"cycles", [](const ImplementationRow& r) { return double(r.targets.cycles); }},
};

std::string configuration_of(const ImplementationRow& row) {
  OverlayHardware hardware = row.hardware;
  hardware.name = "overlay";
  return row.device + "\n" + print_overlay_hardware(hardware);
}

}  // namespace

tune::SampleTable implementation_table(const std::vector<ImplementationRow>& rows) {
  tune::SampleTable table;
  for (const Feature& feature : kChoices) table.features.emplace_back(feature.name);
  for (const Feature& feature : kDerived) table.features.emplace_back(feature.name);
  table.derived = std::size(kDerived);
  for (const ImplementationRow& row : rows) {
    for (const Feature& feature : kChoices) table.rows.push_back(float(feature.value(row)));
    for (const Feature& feature : kDerived) table.rows.push_back(float(feature.value(row)));
    table.configurations.push_back(configuration_of(row));
    table.precisions.push_back(row.hardware.input_bits);
    const overlay::ImplementationTargets& t = row.targets;
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const auto value = [&](bool known, double number) { return known ? number : nothing; };
    const bool counted = t.lut > 0;
    table.targets["fmax"].push_back(value(row.placed(), t.fmax_mhz));
    table.targets["gops"].push_back(value(row.placed() && t.gops > 0, t.gops));
    table.targets["lut"].push_back(value(counted, double(t.lut)));
    table.targets["ff"].push_back(value(counted, double(t.ff)));
    table.targets["dsp"].push_back(value(counted, double(t.dsp)));
    table.targets["bram"].push_back(value(counted, double(t.bram)));
  }
  return table;
}

tune::SampleTable read_sample_table(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return exploration_table(read_exploration(path));
  return implementation_table(overlay::read_implementation_data(path));
}

}  // namespace tilewright
