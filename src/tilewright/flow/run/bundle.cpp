// Sections: graph.onnx (the integer graph), hardware.yaml, nodes.json (placement, reason and schedule of
// every node), meanings.json, and states.json where there are states.
#include "tilewright/flow/run/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::vector<std::byte> to_bytes(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string to_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const std::vector<std::byte>& section(const Sections& sections, const std::string& name) {
  const auto found = sections.find(name);
  if (found == sections.end()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the bundle has no section '{}'", name));
  }
  return found->second;
}

// One line of nodes.json as text, or an empty one when the field is missing or no text.
std::string text_field(const Json& entry, const char* field) {
  const auto found = entry.find(field);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void read_nodes(const std::string& text, Bundle& bundle, Diagnostics& diagnostics) {
  const auto report = [&](const std::string& where, const std::string& message) {
    diagnostics.error(ErrorKind::kInvalidInput, where, "", message);
  };
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array()) return report("section 'nodes.json'", "is not a list");
  std::map<std::string, const Json*> entries;
  for (const Json& entry : list) {
    if (entry.is_object()) entries[text_field(entry, "node")] = &entry;
  }
  for (const Node& node : bundle.graph.nodes) {
    const auto found = entries.find(node.name);
    if (found == entries.end()) {
      report(where(node), "is missing in section 'nodes.json'");
      bundle.nodes.push_back({});
      continue;
    }
    const Json& entry = *found->second;
    const std::string side = text_field(entry, "on");
    const bool on_overlay = side == kOverlay;
    if (!on_overlay && side != kHost) report(where(node), "is neither on 'overlay' nor on 'host'");
    bundle.nodes.push_back({on_overlay ? kOverlay : kHost, text_field(entry, "reason")});
    std::string reason;
    if (on_overlay && !overlay::supports(bundle.graph, node, bundle.hardware, &reason)) {
      report(where(node), "cannot run on the overlay: " + reason);
    }
    const std::string schedule = text_field(entry, "schedule");
    if (schedule.empty()) continue;
    try {
      bundle.schedules[node.name] = overlay::parse_schedule(schedule, where(node));
    } catch (const Error& error) {
      for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d);
    }
  }
}

void read_meanings(const std::string& text, Bundle& bundle, Diagnostics& diagnostics) {
  const Json list = Json::parse(text, nullptr, false);
  bool sound = list.is_array();
  for (size_t i = 0; sound && i < list.size(); ++i) {
    const Json& entry = list[i];
    sound = entry.is_object() && entry.contains("scale") && entry["scale"].is_number() &&
            entry.contains("zero_point") && entry["zero_point"].is_number_integer();
    if (!sound) break;
    bundle.meanings.push_back({text_field(entry, "integer"), text_field(entry, "source"),
                               entry["scale"].get<double>(), int32_t(entry["zero_point"].get<int64_t>())});
  }
  if (!sound) {
    diagnostics.error(ErrorKind::kInvalidInput, "section 'meanings.json'", "",
                      "is not a list of quantisations");
  }
}

void read_states(const std::string& text, Bundle& bundle, Diagnostics& diagnostics) {
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& entry) { return entry.is_object(); })) {
    diagnostics.error(ErrorKind::kInvalidInput, "section 'states.json'", "", "is not a list of states");
    return;
  }
  for (const Json& entry : list)
    bundle.states.push_back({text_field(entry, "input"), text_field(entry, "output")});
  with_context("section 'states.json'", [&] { find_states(bundle.graph, bundle.states); });
}

}  // namespace

std::vector<PartitionStep> Bundle::steps() const {
  std::vector<std::string> targets;
  for (const BundleNode& node : nodes) targets.push_back(node.target);
  return order_steps(graph, targets);
}

std::vector<std::byte> format_bundle(const Bundle& bundle) {
  Json list = Json::array();
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
    const std::string& name = bundle.graph.nodes[n].name;
    Json entry = {{"node", name}, {"on", bundle.nodes[n].target}, {"reason", bundle.nodes[n].reason}};
    const auto schedule = bundle.schedules.find(name);
    if (schedule != bundle.schedules.end()) entry["schedule"] = overlay::print_schedule(schedule->second);
    list.push_back(std::move(entry));
  }
  Sections sections;
  sections["graph.onnx"] = format_onnx(bundle.graph);
  sections["hardware.yaml"] = to_bytes(print_overlay_hardware(bundle.hardware));
  sections["nodes.json"] = to_bytes(json_text(list, 1));
  Json meanings = Json::array();
  for (const IntegerMeaning& m : bundle.meanings) {
    meanings.push_back(
        {{"integer", m.integer}, {"source", m.source}, {"scale", m.scale}, {"zero_point", m.zero_point}});
  }
  sections["meanings.json"] = to_bytes(json_text(meanings, 1));
  if (!bundle.states.empty()) {
    Json states = Json::array();
    for (const StatePair& state : bundle.states)
      states.push_back({{"input", state.input}, {"output", state.output}});
    sections["states.json"] = to_bytes(json_text(states, 1));
  }
  return format_container(sections);
}

Bundle parse_bundle(std::span<const std::byte> bytes) {
  const Sections sections = parse_container(bytes);
  Bundle bundle;
  with_context("section 'graph.onnx'", [&] { bundle.graph = parse_onnx(section(sections, "graph.onnx")); });
  bundle.hardware =
      parse_overlay_hardware(to_text(section(sections, "hardware.yaml")), "section 'hardware.yaml'");
  Diagnostics diagnostics;
  bundle.hardware.verify(diagnostics);
  diagnostics.raise_if_any();
  verify(bundle.graph, diagnostics);
  diagnostics.raise_if_any();
  read_nodes(to_text(section(sections, "nodes.json")), bundle, diagnostics);
  read_meanings(to_text(section(sections, "meanings.json")), bundle, diagnostics);
  if (sections.count("states.json"))
    read_states(to_text(section(sections, "states.json")), bundle, diagnostics);
  diagnostics.raise_if_any();
  return bundle;
}

void write_bundle(const std::filesystem::path& path, const Bundle& bundle) {
  write_file(path, format_bundle(bundle));
}

Bundle read_bundle(const std::filesystem::path& path) {
  return with_context(fmt::format("file '{}'", path.string()), [&] { return parse_bundle(read_file(path)); });
}

Bundle read_bundle(const std::filesystem::path& path, const std::string& hardware,
                   const SharedFolders& folders) {
  Bundle bundle = read_bundle(path);
  if (hardware.empty()) return bundle;
  return retarget(std::move(bundle), find_overlay_hardware(hardware, folders.hardware));
}

}  // namespace tilewright
