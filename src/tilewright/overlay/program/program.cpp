// Compilation in four passes: layers from nodes (with folded first layers where the estimate says so),
// schedules, addresses, lowering; then the memory is filled once.
#include "tilewright/overlay/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>

#include "tilewright/base/integer_math.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/product_places.h"
#include "tilewright/overlay/lower/lowering.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/program/kept_data.h"
#include "tilewright/overlay/program/value_places.h"
#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {

namespace {

constexpr uint64_t kFirstAddress = 4096;  // address 0 stays invalid, as on the real memory systems

struct CompiledLayer {
  OverlayLayer layer;
  Schedule schedule;
  std::vector<size_t> sources;  // buffers
  size_t result = 0, matrix = 0;
  std::unique_ptr<Tiling> tiling;
  uint64_t weights = 0, parameters = 0, table = 0, padding = 0;  // byte addresses
  int64_t weight_bytes = 0, parameter_bytes = 0, padding_bytes = 0;
};

bool same_sizes(const OverlayLayer& a, const OverlayLayer& b) {
  const auto sizes = [](const OverlayLayer& l) {
    const LayerSource& s = l.sources[0];
    return std::array<int64_t, 24>{
        int64_t(l.kind),
        int64_t(l.pair),
        l.out_plane,
        s.planes,
        int64_t(l.pattern),
        l.batch,
        l.out_channels,
        l.out_height,
        l.out_width,
        s.channels,
        s.height,
        s.width,
        l.in_step_y,
        l.in_step_x,
        l.group_inputs,
        l.group_outputs,
        l.weight_count(),
        l.foldable,
        int64_t(l.sources.size()),
        int64_t(l.output.scale.size()),
        l.output.table != nullptr,
        int64_t(l.visible),
        l.rows ? 1 + int64_t(l.rows->kind) + 2 * l.rows->first.has_value() : 0,
        l.computed ? 1 + l.computed->columns + 2 * (l.computed->input_offset != 0) : 0};
  };
  const auto same_grids = [](const Phase& x, const Phase& y) { return x.grids == y.grids; };
  return !a.fold && !b.fold && sizes(a) == sizes(b) &&
         std::equal(a.phases.begin(), a.phases.end(), b.phases.begin(), b.phases.end(), same_grids);
}

class Compiler {
 public:
  Compiler(const Graph& graph, std::span<const NodeId> nodes, const OverlayHardware& hardware,
           const std::map<std::string, Schedule>& schedules)
      : graph_(graph),
        nodes_(nodes),
        hardware_(hardware),
        schedules_(schedules),
        places_(graph, nodes, hardware) {}

  OverlayProgram run() {
    for (const NodeId id : nodes_) check_tensors(graph_.nodes[size_t(id)]);
    add_nodes([this](CompiledLayer& compiled) { choose(compiled); });
    find_outputs();
    diagnostics_.raise_if_any("overlay schedules");
    // Layers of one token have nothing to run beside their output passes; one bank leaves room for KeptData.
    OverlayHardware hardware = hardware_;
    if (is_token_step()) hardware.gemm_beside_alu = false;
    for (CompiledLayer& compiled : layers_) {
      if (is_token_step()) compiled.schedule.parameters_by_tile = false;
      compiled.tiling = std::make_unique<Tiling>(compiled.layer, hardware, compiled.schedule);
    }
    place_memory();
    lower();
    fill_memory();
    return std::move(program_);
  }

  std::vector<OverlayLayer> layers() {
    add_nodes([](CompiledLayer&) {});
    std::vector<OverlayLayer> all;
    for (CompiledLayer& compiled : layers_) all.push_back(std::move(compiled.layer));
    return all;
  }

  std::map<NodeId, Diagnostic> misfits() {
    std::map<NodeId, Diagnostic> found;
    for (const NodeId id : nodes_) {
      const Node& node = graph_.nodes[size_t(id)];
      // A view of what is not there goes to the host, too, and so does what would join nothing but inputs
      // behind each other.
      const auto there = [this](ValueId v) { return places_.made_here(v); };
      if (is_view(graph_, node) && !there(node.input(0))) continue;
      if (join_axis(graph_, node) == 1 && std::none_of(node.inputs.begin(), node.inputs.end(), there))
        continue;
      try {
        check_tensors(node);
        add_node(id, [this](CompiledLayer& compiled) { choose(compiled); });
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUnsupported && error.kind() != ErrorKind::kInfeasible) throw;
        found.emplace(id, error.diagnostics()[0]);
      }
    }
    return found;
  }

 private:
  using Scheduler = std::function<void(CompiledLayer&)>;

  void add_nodes(const Scheduler& schedule) {
    for (const NodeId id : nodes_) {
      with_context(where(graph_.nodes[size_t(id)]), [&] { add_node(id, schedule); });
    }
  }

  void add_node(NodeId id, const Scheduler& schedule) {
    const Node& node = graph_.nodes[size_t(id)];
    const int now = int(layers_.size());
    if (is_view(graph_, node)) return places_.add_view(node);
    if (is_join(graph_, node)) return places_.add_join(node, now);
    take_position(node);
    if (is_cache_update(node)) return places_.add_cache(node, now);
    if (places_.add_piece(node, now)) return;
    CompiledLayer compiled;
    compiled.layer = extract_layer(graph_, node, hardware_, places_.views());
    const ValueId root = places_.root_of(compiled.layer.sources[0].value);
    compiled.layer.foldable = !places_.made_here(root) && !graph_.is_constant(root) &&
                              compiled.layer.sources[0].channels < hardware_.block_in &&
                              compiled.layer.sources[0].planes == 1;
    schedule(compiled);
    for (LayerSource& source : compiled.layer.sources) {
      compiled.sources.push_back(places_.source(compiled.layer, source, now));
    }
    if (compiled.layer.computed)
      compiled.matrix = places_.source(compiled.layer, compiled.layer.computed->source, now);
    compiled.result = places_.add_result(compiled.layer, now);
    layers_.push_back(std::move(compiled));
  }

  // A run is for a token at one position; nodes whose own says how long its text may be.
  void take_position(const Node& node) {
    const bool update = is_cache_update(node);
    const ValueId position = update || node.is_tilewright("QMatMul") ? node.input(update ? 2 : 3) : kNoValue;
    if (position == kNoValue) return;
    const auto refuse = [&](const char* reason) {
      throw Error({{ErrorKind::kUnsupported, where(node), node.op, reason, "run it on the host"}});
    };
    if (graph_.is_constant(position)) refuse("its position is constant");
    if (program_.position != kNoValue && program_.position != position)
      refuse("it stands at another position than others");
    const ProductParameters places = product_places(node);
    const Shape& rows = graph_.value(node.input(update ? 0 : 1)).shape;
    const int64_t groups = places.groups == 0 ? places.heads : places.groups;
    const int64_t count = update || places.b_columns ? rows[0] : rows[0] / groups;
    program_.positions = program_.position == kNoValue ? count : std::min(program_.positions, count);
    program_.position = position;
  }

  void choose(CompiledLayer& compiled) {
    const auto given = schedules_.find(compiled.layer.name);
    if (given == schedules_.end()) {
      compiled.schedule = known_or_default(compiled.layer);
    } else {
      const size_t before = diagnostics_.errors().size();
      verify(compiled.layer, hardware_, given->second, diagnostics_);
      if (diagnostics_.errors().size() == before) compiled.schedule = given->second;
    }
    compiled.layer = scheduled_layer(compiled.layer, compiled.schedule);
  }

  // Layers of the same sizes get the same schedule; networks repeat themselves a lot.
  Schedule known_or_default(const OverlayLayer& layer) {
    for (const size_t index : defaulted_) {
      // The parameters of its output stage take room in ACC as well.
      const Schedule& schedule = layers_[index].schedule;
      if (same_sizes(layers_[index].layer, layer) && Tiling(layer, hardware_, schedule).fits(hardware_)) {
        return schedule;
      }
    }
    const std::optional<Schedule> whole =
        is_token_step() ? one_step_schedule(layer, hardware_) : std::nullopt;
    Schedule schedule = whole ? *whole : default_schedule(layer, hardware_);
    defaulted_.push_back(layers_.size());
    return schedule;
  }

  // Before any schedule is sought: tiles of a tensor that cannot be there may be too many to list.
  void check_tensors(const Node& node) const {
    const auto check = [&](ValueId v) {
      if (v == kNoValue || graph_.value(v).shape.element_count() <= hardware_.dram_bytes) return;
      throw Error(
          {{ErrorKind::kInfeasible, where(node), node.op,
            fmt::format("tensor '{}' alone needs {} bytes of memory, '{}' has {}", graph_.value(v).name,
                        graph_.value(v).shape.element_count(), hardware_.name, hardware_.dram_bytes),
            ""}});
    };
    for (const ValueId v : node.inputs) check(v);
    for (const ValueId v : node.outputs) check(v);
  }

  void find_outputs() {
    for (const NodeId id : nodes_) {
      const ValueId value = graph_.nodes[size_t(id)].outputs[0];
      if (!places_.read_outside(value) || is_cache_update(graph_.nodes[size_t(id)])) continue;
      const std::optional<size_t> home = places_.keep(value, int(layers_.size()));
      if (!home) {
        throw Error(ErrorKind::kUnsupported,
                    "value '" + graph_.value(value).name + "' is only a view of an input of the program",
                    "leave " + graph_.nodes[size_t(id)].op + " to the host");
      }
      const Buffer& buffer = places_.buffers()[*home];
      program_.outputs.push_back({value,
                                  graph_.value(value).name,
                                  graph_.value(value).shape,
                                  buffer.view,
                                  {},
                                  buffer.bipolar,
                                  0,
                                  packed_activation_bytes(buffer.view, hardware_)});
      output_buffers_.push_back(*home);
    }
  }

  uint64_t align(uint64_t address) const { return round_up(address, alignment_); }
  uint64_t take(int64_t bytes) {
    const uint64_t address = align(cursor_);
    cursor_ = address + uint64_t(bytes);
    return address;
  }

  // What lies in an image of others has their distances.
  void place_in_images(CompiledLayer& compiled) const {
    const auto part = [&](size_t buffer) { return places_.buffers()[buffer].parent >= 0; };
    const auto image = [&](size_t buffer) -> const SourceView& { return places_.image_around(buffer); };
    OverlayLayer& layer = compiled.layer;
    if (part(compiled.result)) {
      layer.result_row = image(compiled.result).width;
      layer.result_plane = image(compiled.result).height * layer.result_row;
    }
    for (size_t s = 0; s < compiled.sources.size(); ++s) {
      if (!part(compiled.sources[s])) continue;
      layer.sources[s].image_row = image(compiled.sources[s]).width;
      layer.sources[s].image_plane = image(compiled.sources[s]).height * layer.sources[s].image_row;
    }
  }

  void place_memory() {
    alignment_ =
        uint64_t(std::max({hardware_.input_bytes(), hardware_.weight_bytes(), hardware_.accumulator_bytes(),
                           hardware_.output_bytes(), hardware_.instruction_bytes(), int64_t{64}}));
    cursor_ = places_.place(kFirstAddress, alignment_);
    for (CompiledLayer& compiled : layers_) place_in_images(compiled);
    place_states();
    program_.static_address = align(cursor_);
    for (size_t i = 0; i < places_.buffers().size(); ++i) {
      const Buffer& buffer = places_.buffers()[i];
      if (!buffer.is_constant) continue;
      places_.place_alone(i, take(packed_activation_bytes(buffer.view, hardware_)));
    }
    for (CompiledLayer& compiled : layers_) {
      compiled.weight_bytes = packed_weight_bytes(compiled.layer, hardware_);
      compiled.parameter_bytes = compiled.tiling->blocks.sub_total * compiled.tiling->parameter_vectors *
                                 hardware_.accumulator_bytes();
      compiled.padding_bytes = padding_elements(*compiled.tiling) * hardware_.input_bytes();
      compiled.weights = take(compiled.weight_bytes);
      compiled.parameters = take(compiled.parameter_bytes);
      compiled.table = take(packed_table_bytes(compiled.layer));
      compiled.padding = take(compiled.padding_bytes);
    }
    for (const Buffer& buffer : places_.buffers()) {
      if (!buffer.is_input || buffer.is_constant) continue;
      const Value& value = graph_.value(buffer.value);
      program_.inputs.push_back({buffer.value, value.name, value.shape, buffer.view, buffer.fold,
                                 buffer.bipolar, buffer.address,
                                 packed_activation_bytes(buffer.view, hardware_)});
    }
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      program_.outputs[i].address = places_.buffers()[output_buffers_[i]].address;
    }
    check_memory("tensors and weights need");  // instructions could not even address what is beyond
  }

  // All of a program stand at the same position.
  void place_states() {
    for (const NodeId id : nodes_) {
      const Node& node = graph_.nodes[size_t(id)];
      if (!is_cache_update(node)) continue;
      const size_t home = *places_.keep(node.outputs[0], int(layers_.size()));
      const Buffer& buffer = places_.buffers()[home];
      const Value& value = graph_.value(node.outputs[0]);
      const int64_t bytes = packed_activation_bytes(buffer.view, hardware_);
      places_.place_alone(home, take(bytes));
      ProgramTensor tensor{node.outputs[0], value.name, value.shape, buffer.view};
      tensor.address = buffer.address;
      tensor.bytes = bytes;
      program_.states.push_back({node.input(0), node.outputs[0], tensor});
    }
  }

  // Whether it has caches: then its layers take one token each.
  bool is_token_step() const {
    return std::ranges::any_of(nodes_,
                               [this](NodeId id) { return is_cache_update(graph_.nodes[size_t(id)]); });
  }

  // Programs that take turns would have to fill the scratchpads again and again.
  bool holds_all_caches() const {
    return std::ranges::count_if(graph_.nodes, is_cache_update) ==
           std::ranges::count_if(nodes_,
                                 [this](NodeId id) { return is_cache_update(graph_.nodes[size_t(id)]); });
  }

  void lower() {
    if (is_token_step()) {
      std::vector<TokenLayerData> data;
      for (CompiledLayer& compiled : layers_)
        data.push_back({compiled.tiling.get(), compiled.weights, compiled.parameters, compiled.weight_bytes,
                        compiled.parameter_bytes});
      kept_.emplace(std::move(data), hardware_, holds_all_caches());
    }
    const bool keeps = kept_ && kept_->keeps();
    std::unique_ptr<Runtime> runtime = lowered(keeps);
    // Micro-ops stay if there is room for all.
    const bool keeps_uops = keeps && runtime->uop_image_bytes() <= uint64_t(hardware_.uop_buffer_bytes);
    if (keeps && !keeps_uops) runtime = lowered(false);
    program_.hardware = hardware_;
    program_.uop_bytes = runtime->uop_image_bytes();
    program_.uop_address = take(int64_t(program_.uop_bytes));
    if (keeps) {
      setup_ = kept_->setup(program_.uop_address, keeps_uops ? program_.uop_bytes : 0);
      program_.setup_count = setup_.statistics.instructions;
      program_.setup_address = take(int64_t(setup_.instructions.size()));
      program_.kept_weight_bytes = kept_->weight_bytes();
    }
    output_ = runtime->synchronize(program_.uop_address);
    program_.statistics = output_.statistics;
    program_.run_fields = std::move(output_.run_fields);
    program_.instruction_count = output_.statistics.instructions;
    program_.instruction_address = take(int64_t(output_.instructions.size()));
    program_.static_bytes = cursor_ - program_.static_address;
    check_memory("the program needs");
  }

  // All layers, in order; `keeps_uops`: their micro-ops are in the scratchpad before the program starts.
  std::unique_ptr<Runtime> lowered(bool keeps_uops) {
    auto made = std::make_unique<Runtime>(hardware_);
    Runtime& runtime = *made;
    if (keeps_uops) runtime.expect_micro_ops();
    program_.layers.clear();
    for (const CompiledLayer& compiled : layers_) {
      LayerAddresses addresses;
      if (kept_) kept_->describe(size_t(&compiled - layers_.data()), addresses);
      for (const size_t source : compiled.sources) {
        addresses.sources.push_back(int64_t(places_.buffers()[source].address) / hardware_.input_bytes());
      }
      addresses.weights = int64_t(compiled.weights) / hardware_.weight_bytes();
      addresses.parameters = int64_t(compiled.parameters) / hardware_.accumulator_bytes();
      if (compiled.layer.computed) {
        addresses.weights = int64_t(places_.buffers()[compiled.matrix].address) / hardware_.input_bytes();
      }
      addresses.table = int64_t(compiled.table) / table_entry_bytes(compiled.layer);
      addresses.result = int64_t(places_.buffers()[compiled.result].address) / hardware_.output_bytes();
      if (places_.is_in_cache(compiled.result))
        addresses.result_per_position = compiled.tiling->blocks.out * compiled.tiling->blocks.ratio;
      addresses.padding = int64_t(compiled.padding) / hardware_.input_bytes();
      const RuntimeStatistics before = runtime.statistics();
      const uint64_t instructions = runtime.instruction_count(), uops = runtime.uop_image_bytes();
      with_context("node '" + compiled.layer.name + "'",
                   [&] { lower_layer(*compiled.tiling, addresses, runtime); });
      LayerReport report{
          compiled.layer.name, compiled.layer.op, compiled.layer.macs, compiled.tiling->schedule, {}};
      report.cost = predict_layer(*compiled.tiling, hardware_);
      report.instructions = runtime.instruction_count() - instructions;
      report.uops = (runtime.uop_image_bytes() - uops) / uint64_t(hardware_.uop_bytes());
      report.uop_reloads = runtime.statistics().uop_reloads - before.uop_reloads;
      report.weight_bytes = compiled.weight_bytes;
      report.folded = compiled.layer.fold.has_value();
      program_.layers.push_back(std::move(report));
    }
    return made;
  }

  void check_memory(const char* what) const {
    if (cursor_ <= uint64_t(hardware_.dram_bytes)) return;
    throw Error(ErrorKind::kInfeasible,
                fmt::format("{} {} bytes of memory, '{}' has {}", what, cursor_, hardware_.name,
                            hardware_.dram_bytes),
                "raise its dram_bytes, or make the model's input smaller");
  }

  void fill_memory() {
    program_.memory.resize(cursor_);
    const auto part = [&](uint64_t address, int64_t bytes) {
      return std::span(program_.memory).subspan(address, size_t(bytes));
    };
    for (CompiledLayer& compiled : layers_) {
      pack_weights(compiled.layer, hardware_, part(compiled.weights, compiled.weight_bytes));
      pack_parameters(compiled.tiling->output, hardware_,
                      part(compiled.parameters, compiled.parameter_bytes));
      pack_table(compiled.layer, part(compiled.table, packed_table_bytes(compiled.layer)));
      pack_padding(compiled.layer, hardware_, part(compiled.padding, compiled.padding_bytes));
    }
    for (const Buffer& buffer : places_.buffers()) {
      if (!buffer.is_constant) continue;
      pack_activation(*graph_.value(buffer.value).constant, buffer.view, buffer.bipolar, hardware_,
                      part(buffer.address, packed_activation_bytes(buffer.view, hardware_)));
    }
    std::copy(setup_.instructions.begin(), setup_.instructions.end(),
              program_.memory.begin() + long(program_.setup_address));
    std::copy(output_.uops.begin(), output_.uops.end(), program_.memory.begin() + long(program_.uop_address));
    std::copy(output_.instructions.begin(), output_.instructions.end(),
              program_.memory.begin() + long(program_.instruction_address));
  }

  const Graph& graph_;
  std::span<const NodeId> nodes_;
  const OverlayHardware& hardware_;
  const std::map<std::string, Schedule>& schedules_;
  ValuePlaces places_;
  Diagnostics diagnostics_;
  std::vector<CompiledLayer> layers_;
  std::vector<size_t> output_buffers_;
  std::vector<size_t> defaulted_;  // layers whose schedule was searched for
  uint64_t alignment_ = 64, cursor_ = 0;
  RuntimeOutput output_, setup_;
  std::optional<KeptData> kept_;
  OverlayProgram program_;
};

}  // namespace

std::vector<OverlayLayer> overlay_layers(const Graph& graph, std::span<const NodeId> nodes,
                                         const OverlayHardware& hardware) {
  const std::map<std::string, Schedule> none;
  return Compiler(graph, nodes, hardware, none).layers();
}

std::map<NodeId, Diagnostic> overlay_misfits(const Graph& graph, std::span<const NodeId> nodes,
                                             const OverlayHardware& hardware) {
  const std::map<std::string, Schedule> none;
  return Compiler(graph, nodes, hardware, none).misfits();
}

OverlayProgram compile_overlay(const Graph& graph, std::span<const NodeId> nodes,
                               const OverlayHardware& hardware,
                               const std::map<std::string, Schedule>& schedules) {
  return Compiler(graph, nodes, hardware, schedules).run();
}

void set_position(OverlayProgram& program, int64_t position) {
  if (position < 0 || position >= program.positions) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("position {} is beyond the {} tokens of the cache", position, program.positions));
  }
  const int64_t block = program.hardware.block_in, size = program.hardware.instruction_bytes();
  uint64_t words[IsaLayout::kMaxWords];
  for (const RunField& field : program.run_fields) {
    std::byte* const at =
        program.memory.data() + program.instruction_address + int64_t(field.instruction) * size;
    std::memcpy(words, at, size_t(size));
    const int64_t value = field.base + field.factor * measured_at(field.measure, position, block);
    words[field.field.word] &= ~(field.field.mask() << field.field.shift);
    field.field.put(words, uint64_t(value));
    std::memcpy(at, words, size_t(size));
  }
}

void write_program_state(OverlayProgram& program, const ProgramState& state, const Tensor& tensor) {
  const ProgramTensor& cache = state.tensor;
  if (tensor.type() != ElementType::kI8 || tensor.shape() != cache.shape) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the cache '{}' is {}, not {}", cache.name,
                                                      to_string(ElementType::kI8, cache.shape),
                                                      to_string(tensor.type(), tensor.shape())));
  }
  pack_activation(tensor, cache.view, false, program.hardware,
                  std::span(program.memory).subspan(cache.address, size_t(cache.bytes)));
}

Tensor read_program_state(const OverlayProgram& program, const ProgramState& state) {
  const ProgramTensor& cache = state.tensor;
  const auto bytes = std::span(program.memory).subspan(cache.address, size_t(cache.bytes));
  return unpack_activation(bytes, cache.view, false, program.hardware).reshaped(cache.shape);
}

void write_program_inputs(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs) {
  for (const ProgramTensor& input : program.inputs) {
    const auto given = inputs.find(input.value);
    if (given == inputs.end()) {
      throw Error(ErrorKind::kInvalidInput, "input '" + input.name + "' of the overlay program is missing");
    }
    const Tensor& tensor = given->second;
    const ElementType type = input.view.planes == 2 ? ElementType::kI16 : ElementType::kI8;
    if (tensor.type() != type || tensor.shape() != input.shape) {
      throw Error(ErrorKind::kInvalidInput, "input '" + input.name + "' of the overlay program is " +
                                                to_string(tensor.type(), tensor.shape()) + ", not " +
                                                to_string(type, input.shape));
    }
    const auto bytes = std::span(program.memory).subspan(input.address, size_t(input.bytes));
    const SourceView& view = input.view;
    pack_activation(
        input.fold ? fold_image(tensor, view.batch, *input.fold, view.height, view.width) : tensor, view,
        input.bipolar, program.hardware, bytes);
  }
}

std::map<ValueId, Tensor> read_program_outputs(const OverlayProgram& program) {
  std::map<ValueId, Tensor> outputs;
  for (const ProgramTensor& output : program.outputs) {
    const auto bytes = std::span(program.memory).subspan(output.address, size_t(output.bytes));
    outputs.insert_or_assign(
        output.value,
        unpack_activation(bytes, output.view, output.bipolar, program.hardware).reshaped(output.shape));
  }
  return outputs;
}

std::map<ValueId, Tensor> run_overlay(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs,
                                      FunctionalSimulator& simulator, RunCounters* counters) {
  write_program_inputs(program, inputs);
  if (program.setup_count > 0) simulator.run(program.memory, program.setup_address, program.setup_count);
  const RunCounters run =
      simulator.run(program.memory, program.instruction_address, program.instruction_count);
  if (counters != nullptr) *counters = run;
  return read_program_outputs(program);
}

}  // namespace tilewright::overlay
