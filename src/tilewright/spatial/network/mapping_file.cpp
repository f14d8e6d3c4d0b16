// YAML of a network's mappings. The levels are kept as text until the workload is known whose names they use.
#include "tilewright/spatial/network/mapping_file.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

std::string indented_by(const std::string& text, const std::string& indent) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start && c != '\n') result += indent;
    result += c;
    start = c == '\n';
  }
  if (!start) result += '\n';
  return result;
}

std::string as_text(const YAML::Node& node) {
  YAML::Emitter emitter;
  emitter << node;
  return emitter.c_str();
}

}  // namespace

std::string print_mapping_file(const NetworkReport& report) {
  std::string text = fmt::format("network: {}\nhardware: {}\nlayers:\n", yaml_quoted(report.network.name),
                                 yaml_quoted(report.hardware));
  bool any = false;
  for (const DataflowRun& run : report.runs) {
    for (const NetworkLayer& layer : report.network.layers) {
      const LayerCost& cost = report.cost(run, layer);
      if (cost.mapping.empty()) continue;
      any = true;
      text += fmt::format("- layer: {}\n  dataflow: {}\n  energy: {}\n  cycles: {}\n  mapping:\n",
                          yaml_quoted(layer.name), yaml_quoted(run.dataflow), cost.energy, cost.cycles);
      text += indented_by(cost.mapping, "  ");
    }
  }
  return any ? text : text + "  []\n";
}

const std::string* MappingFile::find(const std::string& layer) const {
  for (const Entry& entry : entries) {
    if (entry.layer == layer || entry.layer.empty()) return &entry.text;
  }
  return nullptr;
}

MappingFile parse_mapping_file(const std::string& text, const std::string& source_name) {
  MappingFile file;
  file.source = source_name;
  const YAML::Node document = parse_yaml(text, source_name);
  if (document.IsSequence()) {
    // One mapping: kept as it stands, so that messages have its lines.
    file.entries.push_back({"", text});
    return file;
  }
  Diagnostics diagnostics;
  YamlMap top(document, source_name, diagnostics);
  for (const char* known : {"network", "hardware"}) top.child(known);
  const YAML::Node layers = top.child("layers");
  if (!layers.IsDefined() || !layers.IsSequence()) {
    top.error("layers", "is not a list of mappings", "see docs/guides/map.md");
  } else {
    for (const YAML::Node& node : layers) {
      YamlMap entry(node, source_name, diagnostics);
      const std::string layer = entry.text("layer");
      for (const char* known : {"dataflow", "energy", "cycles"}) entry.child(known);
      const YAML::Node levels = entry.child("mapping");
      if (!levels.IsDefined() || !levels.IsSequence()) {
        entry.error("mapping", "is not a list of levels");
      } else {
        file.entries.push_back({layer, as_text(levels)});
      }
      entry.finish();
    }
  }
  top.finish();
  diagnostics.raise_if_any();
  if (file.entries.empty()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' holds no mapping", source_name));
  }
  return file;
}

MappingFile read_mapping_file(const std::filesystem::path& path) {
  return parse_mapping_file(read_text_file(path), path.string());
}

}  // namespace tilewright
