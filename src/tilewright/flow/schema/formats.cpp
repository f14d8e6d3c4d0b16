// Each format names its reader and texts that show all of its forms. A reader that takes more than the text
// gets the rest from a fixed example.
#include "tilewright/flow/schema/formats.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/problem/mapping_file.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/place/place_question.h"
#include "tilewright/flow/samples/preprocess.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/fabric.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/hardware/preset_files.h"
#include "tilewright/nest/workload.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"
#include "tilewright/spatial/network/mapping_file.h"
#include "tilewright/spatial/taxonomy/dataflow.h"
#include "tilewright/synthesis/implementation.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr const char* kSource = "document";

// Presets of one kind.
Texts presets(const fs::path& folder, const std::string& kind) {
  Texts texts;
  for (const std::string& name : preset_names(folder, kind))
    texts.push_back(read_text_file(folder / (name + ".yaml")));
  return texts;
}

Texts files_in(const fs::path& folder, const std::string& extension, const std::string& mark) {
  Texts texts;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() != extension) continue;
    std::string text = read_text_file(entry.path());
    if (text.find(mark) != std::string::npos) texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

Texts workload_texts(const SharedFolders&) {
  return {
      "name: a\nconvolution: {batch: 1, input_channels: 8, output_channels: 6, group: 2, input: [9, 10], "
      "kernel: [3, 2], stride: [2, 1], dilation: 2, pad: [1, 3, 2, 4]}\nbits: {input: 16, weight: 16, "
      "output: 16}\n",
      "name: b\ndepthwise: {channels: 8, multiplier: 3, input: 9, kernel: 3}\n",
      "name: c\ntransposed_convolution: {input: [4, 5], input_channels: 8, output_channels: 6, kernel: 3}\n",
      "name: d\ndense: {batch: 4, inputs: 10, outputs: 20}\n",
      "name: e\nmatmul: {batch: 12, m: 5, n: 6, k: 7, shared_weight: true}\n",
      "name: f\ndimensions: {P: 13, S: 3, D: 2}\ndata_spaces:\n- {name: input, ranks: [{name: W, size: 14, "
      "index: P - 2*S + 3}, D]}\n- {name: weight, bits: 4, ranks: [S]}\n- {name: output, output: true, "
      "ranks: "
      "[P, 0]}\n",
      "- {name: a, dense: {inputs: 2, outputs: 3}}\n- {name: b, matmul: {m: 1, n: 2, k: 3}}\n"};
}

Texts memory_texts(const SharedFolders&) {
  return {"kind: memory\nmodel: fixed\nlatency: 8\nbeat_interval: 1\nefficiency_percent: 100\n",
          "model: ddr\nddr: {banks: 8, row_bytes: 4096, controller: 10, activate: 5, cas: 5, precharge: 5, "
          "write_recovery: 6, read_to_write: 2, write_to_read: 4, beat_interval: 1}\n"};
}

Texts allocation_texts(const SharedFolders&) {
  pipeline::Allocation streaming, processors;
  streaming.streaming = true;
  streaming.layers = {{"layer1", {4, 8, 4}, 0, 0, true, 3, 4}, {"layer2", {8, 4, 4}}};
  processors.engines = {{"mac", false, {4, 8, 4}}, {"lanes", true, {4, 4, 2}, 3, 3}};
  processors.layers = {{"layer1", {}, 0, 4}, {"layer2", {}, 1}};
  processors.units = 2;
  processors.tensor_unit = {0, 1, 0};
  processors.weights_on_chip = false;
  processors.ring_words = 64;
  return {print_allocation(streaming), print_allocation(processors)};
}

// A layer and an array for what refers to both.
Workload example_layer() {
  return parse_workloads(
      "name: conv\nconvolution: {input_channels: 16, output_channels: 32, input: 10, kernel: 3}\n",
      kSource)[0];
}

ArrayHardware example_array() {
  return parse_array_hardware(
      "kind: array\nname: example\narithmetic: {energy: 1}\nlevels:\n- {name: dram, energy: 200}\n- {name: "
      "buffer, capacity_kib: 128, energy: 6, fanout: {x: 16, y: 16}}\n- {name: register, capacity_words: "
      "512, "
      "energy: 1}\n",
      kSource);
}

Texts mapping_texts(const SharedFolders&) {
  return {
      "network: example\nhardware: eyeriss-256\nlayers:\n- layer: conv\n  dataflow: free\n  energy: 1.5\n  "
      "cycles: "
      "100\n  mapping:\n  - {level: dram, temporal: M=32}\n"};
}

cgra::MappedProgram example_program(const SharedFolders& folders) {
  const PlaceRequest request =
      place_request({.expression = "s = s + x[i]*y[i]", .fabric = "hycube-4x4", .folders = folders});
  const PlaceReport report = place(request);
  return mapped_program(request, report.points.at(size_t(report.best)));
}

Texts mapped_texts(const SharedFolders& folders) { return {print_mapped_program(example_program(folders))}; }

Texts preprocess_texts(const SharedFolders&) {
  return {
      "colour: bgr\nresize: [256, 320]\ncrop: [224, 200]\nlayout: nhwc\nscale: 1/255\nmean: [0.5, 0.25, "
      "0.125]\nstd: [1, 2, 3.5]\n",
      "resize: 256\ncrop: 224\nscale: 0.5\nmean: 0.5\nstd: 2\n",
      "resize: 224x320\nscale: 2\nrate: 16000\nchannel: mean\nlength: 16000\n", "channel: 1\n"};
}

Texts implementation_texts(const SharedFolders&) { return {synthesis::print_implementation({})}; }

Texts graph_texts(const SharedFolders& folders) {
  return files_in(folders.models / "cgra", ".json", "\"nodes\"");
}

}  // namespace

const std::vector<FileFormat>& file_formats() {
  static const std::vector<FileFormat> formats = {
      {"overlay", "an overlay (hardware/overlay-*.yaml, vta-*.yaml; --hardware of compile)",
       [](const std::string& text) { parse_overlay_hardware(text, kSource); },
       [](const SharedFolders& f) { return presets(f.hardware, "overlay"); }},
      {"array", "a spatial array (hardware/eyeriss-256.yaml; --hardware of map)",
       [](const std::string& text) { parse_array_hardware(text, kSource); },
       [](const SharedFolders& f) { return presets(f.hardware, "array"); }},
      {"fabric", "a coarse-grained array (hardware/hycube-4x4.yaml; --fabric of place)",
       [](const std::string& text) { parse_fabric(text, kSource); },
       [](const SharedFolders& f) { return presets(f.hardware, "fabric"); }},
      {"device", "an FPGA (hardware/devices/*.yaml; --device)",
       [](const std::string& text) { parse_device(text, kSource); },
       [](const SharedFolders& f) { return presets(f.devices(), "device"); }},
      {"memory", "a memory model (--memory)",
       [](const std::string& text) { parse_memory_model(text, kSource); }, memory_texts},
      {"dataflow", "a dataflow (dataflows/*.yaml; --dataflow of map)",
       [](const std::string& text) { study::parse_dataflow(text, kSource); },
       [](const SharedFolders& f) { return files_in(f.dataflows, ".yaml", ":"); }},
      {"constraints", "constraints of a mapspace (--dataflow of map)",
       [](const std::string& text) {
         static const Workload layer = example_layer();
         static const ArrayHardware array = example_array();
         parse_mapspace(text, kSource, layer, array);
       },
       [](const SharedFolders&) -> Texts {
         return {
             "name: weights stay\nimperfect: true\nlevels:\n- {level: buffer, temporal: R=3 S=3, spatial_x: "
             "M "
             "others=1, spatial_y: C=16 others=1, order: C R S, keep: weight, bypass: input output, "
             "one_axis_per_dimension: true}\n"};
       }},
      {"workload", "one or more layers (--workload of map)",
       [](const std::string& text) { parse_workloads(text, kSource); }, workload_texts},
      {"mappings", "mappings of layers (-o and --mapping of map)",
       [](const std::string& text) { parse_mapping_file(text, kSource); }, mapping_texts},
      {"allocation", "how a generated design is divided (allocation.yaml of a design; --allocation)",
       [](const std::string& text) { pipeline::parse_allocation(text, kSource); }, allocation_texts},
      {"graph", "a dataflow graph (models/cgra/*.json; place)",
       [](const std::string& text) {
         Diagnostics problems;
         cgra::parse_graph_json(text, kSource, cgra::kUsualOperands, problems);
         problems.raise_if_any();
       },
       graph_texts},
      {"mapped-program", "a graph on a fabric (-o of place; run)",
       [](const std::string& text) { cgra::parse_mapped_program(text, kSource); }, mapped_texts},
      {"preprocess",
       "what is done to pictures and sounds (--preprocess of run, compare, quantize and generate)",
       [](const std::string& text) { parse_preprocess(text, kSource); }, preprocess_texts},
      {"implementation", "choices of synthesis, placer and router (records of implementations)",
       [](const std::string& text) { synthesis::parse_implementation(text, kSource); }, implementation_texts},
  };
  return formats;
}

nlohmann::ordered_json format_schema(const std::string& name, const SharedFolders& folders) {
  Texts names;
  for (const FileFormat& format : file_formats()) {
    names.push_back(format.name);
    if (format.name != name) continue;
    nlohmann::ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                     {"$id", "tilewright:" + name},
                                     {"title", "Tilewright: " + format.description}};
    schema.update(document_schema(format.read, format.specimens(folders)));
    return schema;
  }
  throw Error(ErrorKind::kInvalidInput, "there is no schema '" + name + "'",
              words_hint(name, names, "schemas"));
}

}  // namespace tilewright
