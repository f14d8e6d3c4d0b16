// What a reader accepts is used for what is done with it next: verified, printed.
#include "fuzz/text_targets.h"

#include <fmt/format.h>

#include <cctype>

#include "fuzz/document_mutation.h"
#include "fuzz/media_files.h"
#include "fuzz/mutation.h"
#include "support/pipeline/multiplier_count_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/graph/graph_dot.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/learn/policy_network.h"
#include "tilewright/cgra/problem/mapping_file.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/place/place.h"
#include "tilewright/flow/samples/jpeg_file.h"
#include "tilewright/flow/samples/npz.h"
#include "tilewright/flow/samples/picture.h"
#include "tilewright/flow/samples/png_file.h"
#include "tilewright/flow/samples/preprocess.h"
#include "tilewright/flow/samples/wav_file.h"
#include "tilewright/graph/text/text.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/fabric.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/nest/mapping.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/overlay/schedule/schedule.h"
#include "tilewright/spatial/chip/chip.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"
#include "tilewright/spatial/network/mapping_file.h"
#include "tilewright/spatial/taxonomy/dataflow.h"
#include "tilewright/spatial/taxonomy/study_machine.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"
#include "tilewright/synthesis/implementation.h"
#include "tilewright/synthesis/nextpnr.h"
#include "tilewright/synthesis/yosys.h"
#include "tilewright/tensor/idx.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/tune/records/best_schedules.h"
#include "tilewright/tune/records/record_text.h"

namespace tilewright {
namespace {

const std::filesystem::path kSources = TILEWRIGHT_SOURCE_DIR;

constexpr const char* kShortLayer =
    "name: conv1\nconvolution: {batch: 2, input_channels: 3, output_channels: 8, input: 13, kernel: 3, "
    "stride: 2}\n"
    "bits: {input: 8, weight: 8, output: 32}\n";

constexpr const char* kLoopNest =
    "- name: nest\n  dimensions: {P: 13, S: 3, M: 4}\n  data_spaces:\n"
    "  - {name: input, ranks: [{name: W, size: 15, index: P + S}]}\n"
    "  - {name: weight, ranks: [{name: S, size: 3, index: S}, {name: M, size: 4, index: M}]}\n"
    "  - {name: output, output: true, bits: 32, ranks: [{name: P, size: 13, index: P}, {name: M, size: 4, "
    "index: M}]}\n"
    "- name: fc\n  matmul: {m: 4, k: 8, n: 2}\n";

constexpr const char* kMappings =
    "layers:\n- layer: nest\n  dataflow: free\n  mapping:\n  - {level: dram, temporal: P=13}\n"
    "  - {level: buffer, temporal: S=3, spatial: x:M=4, keeps: input output}\n  - level: registers\n";

constexpr const char* kConstraints =
    "imperfect: false\nlevels:\n- level: buffer\n  temporal: S=1 P=1\n  spatial_x: M others=1\n  keep: "
    "weight\n"
    "  bypass: output\n  one_axis_per_dimension: true\n";

constexpr const char* kPreprocess =
    "colour: bgr\nresize: [256, 320]\ncrop: 224\nlayout: nchw\nscale: 1/255\nmean: [0.5, 0.25, "
    "0.125]\nstd: 0.25\nrate: 16000\nchannel: mean\nlength: 16000\n";

constexpr const char* kVtaConfig =
    R"({"TARGET": "pynq", "HW_VER": "0.0.2", "LOG_INP_WIDTH": 3, "LOG_WGT_WIDTH": 3, "LOG_ACC_WIDTH": 5, "LOG_BATCH": 0,
"LOG_BLOCK": 4, "LOG_UOP_BUFF_SIZE": 15, "LOG_INP_BUFF_SIZE": 15, "LOG_WGT_BUFF_SIZE": 18, "LOG_ACC_BUFF_SIZE": 17})";

constexpr const char* kDot =
    "digraph g {\n  a [op=add];\n  c [opcode=\"mul\"];\n  d [label=add];\n  a -> c;\n  a -> c;\n  c -> d;\n"
    "  d -> d [distance=1];\n}\n";

constexpr const char* kTimeloop =
    "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n    - name: DRAM\n      class: "
    "DRAM\n"
    "      attributes: {type: LPDDR4, width: 64, block-size: 4, word-bits: 16}\n    subtree:\n    - name: "
    "chip\n      local:\n"
    "      - name: buffer\n        class: smartbuffer_SRAM\n"
    "        attributes: {memory_depth: 16384, memory_width: 64, word-bits: 16, n_banks: 1}\n"
    "      - name: MAC[0..15]\n        class: intmac\n        attributes: {datawidth: 16, meshX: 4}\n"
    "problem:\n  shape:\n    name: gemm\n    dimensions: [M, N, K]\n    data-spaces:\n"
    "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[[K]], [[N]]]}\n"
    "    - {name: C, projection: [[[M]], [[N]]], read-write: true}\n  instance: {M: 4, N: 4, K: 8}\n"
    "mapping:\n- {target: DRAM, type: temporal, factors: M=4 N=4 K=2, permutation: KNM}\n"
    "- {target: buffer, type: temporal, factors: M=1 N=1 K=4}\n";

constexpr const char* kCounts = R"({"modules": {
  "\\top": {"num_cells_by_type": {"part": 2, "LUT6": 1}},
  "\\part": {"num_cells_by_type": {"LUT6": 3}}},
  "design": {"num_cells_by_type": {"LUT6": 7}}})";

constexpr const char* kNetlist = R"({"modules": {
  "top": {"attributes": {}, "cells": {"u": {"type": "half"}, "v": {"type": "half"}}},
  "half": {"attributes": {"hdlname": "tw_stream_lane_sum"}, "cells": {
    "m": {"type": "$mul", "parameters": {"A_WIDTH": "0101", "B_WIDTH": "1000", "Y_WIDTH": "1101"}}}}}})";

constexpr const char* kReport =
    R"({"fmax": {"clk": {"achieved": 31.5, "constraint": 12.0}},
"utilization": {"ICESTORM_LC": {"used": 5, "available": 7680}},
"critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [
  {"delay": 1.5, "type": "clk-to-q", "from": {"cell": "a"}, "to": {"cell": "a"}},
  {"delay": 2.25, "type": "routing", "from": {"cell": "a"}, "to": {"cell": "b"}}]}]})";

constexpr const char* kAssembly =
    ".uops ; micro-ops\n  dst=0 src=16 wgt=3\n.instructions\n"
    "  load.inp sram=1 dram=0x40 rows=6 columns=56 stride=57 pad=1,2,3,4 pop_next push_next\n"
    "  gemm uops=0..36 loop=4,56 dst=56,1 src=58,2 wgt=7,8 pop_prev\n  alu.shr use_imm imm=-8 uops=36..40\n"
    "  finish\n";

// A layer with its weights.
Graph small_graph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 4});
  const ValueId w = graph.add_constant("w", Tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 2});
  graph.add_node("dense", "MatMul", {x, w}, {y});
  graph.outputs = {y};
  return graph;
}

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using ReadText = std::function<void(const std::string&)>;

FuzzTarget document(const std::string& reader, const std::string& name, const std::string& text,
                    const ReadText& read) {
  const auto damage = [](const Bytes& original, size_t index, Random& random) {
    std::string damaged = text_of(original);
    for (int64_t edits = random.chance(0.7) ? 1 : random.between(2, 4); edits > 0; --edits)
      damaged = damage_document(damaged, DocumentDamage(index % kDocumentDamages), random);
    return bytes_of(damaged);
  };
  return {reader, name, bytes_of(text), damage,
          [read](std::span<const std::byte> bytes) { read(text_of(bytes)); }};
}

FuzzTarget file(const std::string& reader, const std::string& path, const ReadText& read) {
  return document(reader, path, read_text_file(kSources / path), read);
}

template <typename Thing>
void verify(const Thing& thing) {
  Diagnostics diagnostics;
  thing.verify(diagnostics);
  diagnostics.raise_if_any();
}

void add_machines(std::vector<FuzzTarget>& targets) {
  for (const std::string path : {"hardware/eyeriss-256.yaml", "hardware/simba-like.yaml"}) {
    targets.push_back(file("array", path, [path](const std::string& text) {
      const ArrayHardware hardware = parse_array_hardware(text, "damaged");
      verify(hardware);
      print_array_hardware(hardware);
      if (path.find("eyeriss") != std::string::npos) study::study_machine(hardware);
    }));
  }
  const auto overlay = [](const std::string& text) {
    const OverlayHardware hardware = parse_overlay_hardware(text, "damaged");
    verify(hardware);
    print_overlay_hardware(hardware);
  };
  targets.push_back(file("overlay", "hardware/overlay-16x16.yaml", overlay));
  targets.push_back(document("overlay", "vta_config.json", kVtaConfig, overlay));
  for (const char* path : {"hardware/devices/xc7z020.yaml", "hardware/devices/ice40-hx8k.yaml"}) {
    targets.push_back(
        file("device", path, [](const std::string& text) { print_device(parse_device(text, "damaged")); }));
  }
  for (const char* path : {"hardware/hycube-4x4.yaml", "hardware/streaming-engine.yaml"}) {
    targets.push_back(
        file("fabric", path, [](const std::string& text) { print_fabric(parse_fabric(text, "damaged")); }));
  }
  targets.push_back(
      document("memory model", "memory model", print_memory_model({}),
               [](const std::string& text) { print_memory_model(parse_memory_model(text, "damaged")); }));
  targets.push_back(file("chip", "hardware/eyeriss-chip.yaml",
                         [](const std::string& text) { parse_row_stationary_chip(text, "damaged"); }));
}

void add_layers_and_mappings(std::vector<FuzzTarget>& targets) {
  const auto workloads = [](const std::string& text) {
    for (const Workload& workload : parse_workloads(text, "damaged")) print_workload(workload);
  };
  targets.push_back(document("workloads", "workload, short form", kShortLayer, workloads));
  targets.push_back(document("workloads", "workloads, loop nests", kLoopNest, workloads));
  const Workload nest = parse_workloads(kLoopNest, "own").front();
  targets.push_back(document("mappings", "mapping file", kMappings, [nest](const std::string& text) {
    for (const MappingFile::Entry& entry : parse_mapping_file(text, "damaged").entries)
      print_mapping(nest, parse_mapping(entry.text, "damaged", nest));
  }));
  const ArrayHardware array = read_array_hardware(kSources / "hardware/eyeriss-256.yaml");
  std::string constraints = kConstraints;
  constraints.replace(constraints.find("buffer"), 6, array.levels[1].name);
  targets.push_back(document("mapspace", "constraints", constraints, [nest, array](const std::string& text) {
    const Mapspace mapspace = parse_mapspace(text, "damaged", nest, array);
    verify(mapspace);
    print_mapspace(mapspace);
  }));
  targets.push_back(file("dataflow", "dataflows/rs.yaml",
                         [](const std::string& text) { study::parse_dataflow(text, "damaged"); }));
  targets.push_back(document("timeloop", "Timeloop files", kTimeloop, [](const std::string& text) {
    is_timeloop_text(text);
    import_timeloop(std::vector<TimeloopText>{{"damaged", text}});
  }));
  targets.push_back(document(
      "schedule", "schedule", overlay::print_schedule({}),
      [](const std::string& text) { overlay::print_schedule(overlay::parse_schedule(text, "damaged")); }));
}

// A small graph on the streaming engine.
cgra::MappedProgram mapped() {
  PlaceRequest request;
  request.problem.graph = cgra::read_graph_file(kSources / "models/cgra/multiply_add.json").graph;
  request.problem.fabric = find_fabric("streaming-engine", kSources / "hardware");
  request.problem.rules = cgra::usual_rules(request.problem.fabric);
  request.iis = {2};
  request.method = place_methods().front();
  const PlaceReport report = place(request);
  return mapped_program(request, report.points.at(size_t(report.best)));
}

// A policy with one number of every tensor; @N stands for N more, so that damage meets names and lists and
// not only one of 20,000 weights.
std::string policy_outline() {
  std::string text = R"({"format": "tilewright-policy", "version": 1, "origin": "an outline",
"tensors": {)";
  for (int tensor = 0; tensor < cgra::kPolicyTensors; ++tensor) {
    const cgra::PolicyTensorShape& shape = cgra::policy_tensor_shape(tensor);
    const int more = shape.rows * shape.columns - 1;
    text += fmt::format("{}\n\"{}\": [-0.5{}]", tensor == 0 ? "" : ",", shape.name,
                        more == 0 ? "" : fmt::format(", @{}", more));
  }
  return text + "}}\n";
}

// The outline with its zeros, each number of them up to 99,999.
std::string with_zeros(const std::string& outline) {
  std::string text;
  for (size_t at = 0; at < outline.size(); ++at) {
    if (outline[at] != '@') {
      text += outline[at];
      continue;
    }
    int zeros = 0;
    for (; zeros < 10000 && at + 1 < outline.size() && std::isdigit(uint8_t(outline[at + 1])) != 0; ++at)
      zeros = 10 * zeros + (outline[at + 1] - '0');
    for (int i = 0; i < zeros; ++i) text += i == 0 ? "0" : ",0";
  }
  return text;
}

void add_placements(std::vector<FuzzTarget>& targets) {
  for (const char* path : {"models/cgra/ifft.json", "models/cgra/vector_add.json"}) {
    targets.push_back(file("graph json", path, [](const std::string& text) {
      Diagnostics diagnostics;
      const cgra::GraphFile graph =
          cgra::parse_graph_json(text, "damaged", cgra::kUsualOperands, diagnostics);
      diagnostics.raise_if_any();
      cgra::print_graph_json(graph);
    }));
  }
  targets.push_back(document("graph dot", "graph.dot", kDot, [](const std::string& text) {
    Diagnostics diagnostics;
    const cgra::DataflowGraph graph = cgra::parse_graph_dot(text, "damaged", diagnostics);
    diagnostics.raise_if_any();
    cgra::print_graph_dot(graph);
  }));
  const cgra::MappedProgram program = mapped();
  targets.push_back(document("mapped program", "mapped program", cgra::print_mapped_program(program),
                             [](const std::string& text) {
                               cgra::print_mapped_program(cgra::parse_mapped_program(text, "damaged"));
                             }));
  targets.push_back(document("configuration", "fabric configuration",
                             cgra::print_configuration(device_configuration(program)),
                             [](const std::string& text) {
                               cgra::print_configuration(cgra::parse_configuration(text, "damaged"));
                             }));
  targets.push_back(document("policy", "policy.json", policy_outline(), [](const std::string& text) {
    cgra::parse_policy(with_zeros(text), "damaged");
  }));
}

// What Yosys and nextpnr answer.
void add_reports(std::vector<FuzzTarget>& targets) {
  targets.push_back(document("yosys counts", "stat.json", kCounts, [](const std::string& text) {
    synthesis::parse_cell_counts(text, "damaged");
    synthesis::parse_module_cells(text, "damaged");
  }));
  targets.push_back(document("yosys netlist", "netlist.json", kNetlist, [](const std::string& text) {
    pipeline::parse_multipliers(text, "damaged", "top");
  }));
  targets.push_back(document("nextpnr report", "nextpnr.json", kReport, [](const std::string& text) {
    synthesis::NextpnrResult result;
    synthesis::parse_nextpnr_report(text, "damaged", result);
  }));
}

// Arrays of samples, and assembly.
void add_data(std::vector<FuzzTarget>& targets) {
  Tensor tensor(ElementType::kF32, {3, 4, 5});
  for (float& element : tensor.mutable_data<float>()) element = 0.5f;
  targets.push_back({"npy", "array.npy", format_npy(tensor), damage_anything,
                     [](std::span<const std::byte> bytes) { format_npy(parse_npy(bytes)); }});
  Bytes idx = bytes_of(std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04", 16));
  idx.resize(16 + 24, std::byte{7});
  targets.push_back({"idx", "images.idx", idx, damage_anything,
                     [](std::span<const std::byte> bytes) { parse_idx(bytes); }});
  targets.push_back({"npz", "arrays.npz", format_npz({{"a", tensor}, {"b/c", tensor}}), damage_anything,
                     [](std::span<const std::byte> bytes) { format_npz(parse_npz(bytes)); }});
  const OverlayHardware hardware;
  targets.push_back(document("assembly", "program.s", kAssembly, [hardware](const std::string& text) {
    const auto program = overlay::assemble(hardware, text);
    overlay::disassemble(hardware, program.instructions, program.uops);
  }));
}

// Pictures and sounds.
void add_media(std::vector<FuzzTarget>& targets) {
  const auto png = [](std::span<const std::byte> bytes) {
    resize_picture(to_colour(parse_png(bytes), Colour::kGrey), 5, 11);
  };
  const auto jpeg = [](std::span<const std::byte> bytes) { parse_jpeg(bytes); };
  targets.push_back({"png", "eight.png", small_png(false), damage_anything, png});
  targets.push_back({"png", "sixteen.png", small_png(true), damage_anything, png});
  targets.push_back({"jpeg", "baseline.jpg", small_jpeg(false), damage_anything, jpeg});
  targets.push_back({"jpeg", "progressive.jpg", small_jpeg(true), damage_anything, jpeg});
  targets.push_back({"wav", "sound.wav", small_wav(), damage_anything,
                     [](std::span<const std::byte> bytes) { parse_wav(bytes); }});
  targets.push_back(document("preprocess", "steps.yaml", kPreprocess,
                             [](const std::string& text) { parse_preprocess(text, "damaged"); }));
}

}  // namespace

std::vector<FuzzTarget> text_targets() {
  std::vector<FuzzTarget> targets;
  add_machines(targets);
  add_layers_and_mappings(targets);
  add_placements(targets);
  add_reports(targets);
  add_data(targets);
  add_media(targets);
  const tune::Record record{{"layer 1", "machine", "schedule 2", "tool 1", 0}, 102, {}, 0.5, 1700000000};
  targets.push_back(document("record", "record", tune::print_record(record),
                             [](const std::string& text) { tune::parse_best_schedules(text, "damaged"); }));
  targets.push_back(
      document("implementation", "implementation", synthesis::print_implementation({}),
               [](const std::string& text) { synthesis::parse_implementation(text, "damaged"); }));
  targets.push_back(document("graph text", "graph text", print(small_graph()),
                             [](const std::string& text) { print(parse_graph(text)); }));
  return targets;
}

}  // namespace tilewright
