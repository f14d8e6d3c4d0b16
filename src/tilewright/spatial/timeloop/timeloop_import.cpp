// All files are taken together, as Timeloop does; each top-level key is a section with its own reader.
#include "tilewright/spatial/timeloop/timeloop_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/spatial/timeloop/architecture.h"
#include "tilewright/spatial/timeloop/directives.h"
#include "tilewright/spatial/timeloop/problem.h"
#include "tilewright/spatial/timeloop/yaml_source.h"

namespace tilewright {
namespace {

using timeloop::Architecture;
using timeloop::child;
using timeloop::Directive;
using timeloop::items;
using timeloop::Report;
using timeloop::same;
using timeloop::Source;

constexpr const char* kSections[] = {
    "arch",    "architecture", "problem",  "mapspace", "mapspace_constraints", "architecture_constraints",
    "mapping", "ERT",          "variables"};
// Sections about running the search or estimating energies, which happens elsewhere here.
constexpr const char* kIgnored[] = {
    "mapper", "ART", "components", "compound_components", "globals", "model", "dumped_by_timeloop_front_end",
    "version"};
constexpr const char* kRefused[] = {"sparse_optimizations", "layout", "crypto"};

template <typename List>
bool among(const List& list, const std::string& key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

class Importer {
 public:
  TimeloopImport run(std::span<const TimeloopText> texts) {
    for (const TimeloopText& text : texts) add(text);
    TimeloopImport result;
    read_variables();
    std::optional<timeloop::EnergyTable> table;
    if (const Source section = the_only("ERT")) table = timeloop::read_energy_table(section, report_);
    std::optional<Architecture> architecture;
    Source section = the_only("architecture");
    if (!section) section = the_only("arch");
    if (section) {
      architecture = timeloop::read_architecture(section, table ? &*table : nullptr, variables_, report_);
    }
    if (const Source problem = the_only("problem"))
      result.workload = timeloop::read_problem(problem, report_);
    if (architecture && result.workload) {
      if (architecture->hardware.word_bits >= 1) set_bits(*result.workload, architecture->hardware.word_bits);
      result.mapspace = read_mapspace(*architecture, *result.workload);
    }
    if (const Source mapping = the_only("mapping"); mapping && !empty(mapping)) {
      if (architecture && result.workload) {
        result.mapping = timeloop::read_mapping(mapping, *result.workload, *architecture, report_);
      } else if (report_.diagnostics().ok()) {
        report_.invalid(mapping, "mapping", "needs the architecture and the problem it is for");
      }
    }
    if (architecture) result.hardware = std::move(architecture->hardware);
    report_.diagnostics().raise_if_any();
    result.notes = report_.notes();
    return result;
  }

 private:
  // Nothing but a version, and lists without entries: what dumps have for sections there were none of.
  static bool empty(const Source& section) {
    const auto nothing = [](const YAML::Node& node) {
      return !node.IsDefined() || node.IsNull() || (!node.IsScalar() && node.size() == 0);
    };
    if (!section || nothing(section.node)) return true;
    if (!section.is_map()) return false;
    for (const auto& entry : section.node) {
      const bool version = entry.first.IsScalar() && entry.first.Scalar() == "version";
      if (!version && !nothing(entry.second)) return false;
    }
    return true;
  }

  void add(const TimeloopText& text) {
    const YAML::Node root = parse(text);
    if (!root.IsDefined()) return;
    const Source file{root, text.name};
    if (!file.is_map()) return report_.invalid(file, "", "a map of sections is expected");
    for (const auto& entry : root) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "...";
      const Source section = file.with(entry.second);
      if (among(kSections, key)) {
        sections_[key].push_back(section);
      } else if (among(kIgnored, key)) {
        report_.note(section, key, "says how to run that tool: not used");
      } else if (among(kRefused, key)) {
        if (!empty(section)) report_.unsupported(file.with(entry.first), key, "is not modelled");
      } else {
        std::string known;
        for (const char* name : kSections) known += (known.empty() ? "" : ", ") + std::string(name);
        report_.invalid(file.with(entry.first), key, "unknown section", "sections: " + known);
      }
    }
  }

  YAML::Node parse(const TimeloopText& text) {
    if (text.text.find("{{") != std::string::npos || text.text.find("{%") != std::string::npos) {
      report_.unsupported({YAML::Node(YAML::NodeType::Undefined), text.name}, "",
                          "a template with {{ }} or {% %}", "expand it first");
      return YAML::Node(YAML::NodeType::Undefined);
    }
    try {
      return parse_yaml(text.text, text.name);
    } catch (const Error& error) {
      for (const Diagnostic& d : error.diagnostics()) report_.diagnostics().add(d);
    }
    return YAML::Node(YAML::NodeType::Undefined);
  }

  // The section of a kind of which there may be one. Dumps of that tool repeat the sections they were made
  // from, and leave those empty that there were none of.
  Source the_only(const std::string& key) {
    const auto found = sections_.find(key);
    if (found == sections_.end()) return {};
    std::vector<Source>& sections = found->second;
    const auto stated = std::find_if_not(sections.begin(), sections.end(), empty);
    const Source first = stated == sections.end() ? sections.front() : *stated;
    for (const Source& other : sections) {
      if (empty(other) || same(first.node, other.node)) continue;
      report_.invalid(other, key, fmt::format("a second section; the first is in {}", first.where()),
                      "leave out one of them");
    }
    sections = {first};
    return first;
  }

  void read_variables() {
    const Source section = the_only("variables");
    if (!section) return;
    if (!section.is_map()) return report_.invalid(section, "variables", "a map is expected");
    for (const auto& entry : section.node) {
      double value = 0;
      if (entry.first.IsScalar() && YAML::convert<double>::decode(entry.second, value)) {
        variables_[entry.first.Scalar()] = value;
      }
    }
  }

  static void set_bits(Workload& workload, int64_t bits) {
    for (DataSpace& space : workload.data_spaces) space.bits = int(bits);
  }

  Mapspace read_mapspace(const Architecture& architecture, const Workload& workload) {
    Mapspace mapspace{workload, architecture.hardware, {}, false};
    std::vector<Directive> directives = architecture.constraints;
    for (const char* key : {"architecture_constraints", "mapspace_constraints", "mapspace"}) {
      const Source section = the_only(key);
      if (!section) continue;
      const std::string kind = child(section, "template").text();
      if (kind == "ruby") {
        mapspace.imperfect = true;
      } else if (!kind.empty() && kind != "uber") {
        report_.unsupported(section, "template", fmt::format("the mapspace '{}'", kind), "uber or ruby");
      }
      const std::vector<Directive> more = timeloop::read_directives(section, architecture, report_);
      directives.insert(directives.end(), more.begin(), more.end());
    }
    timeloop::constrain(mapspace, directives, architecture.without_loops, report_);
    return mapspace;
  }

  Report report_;
  std::map<std::string, std::vector<Source>> sections_;
  std::map<std::string, double> variables_;
};

}  // namespace

TimeloopImport import_timeloop(std::span<const TimeloopText> texts) { return Importer().run(texts); }

TimeloopImport read_timeloop(std::span<const std::filesystem::path> files) {
  std::vector<TimeloopText> texts;
  for (const std::filesystem::path& file : files) {
    texts.push_back({file.string(), read_text_file(file, size_t{1} << 22)});
  }
  return import_timeloop(texts);
}

bool is_timeloop_text(const std::string& text) {
  try {
    const YAML::Node root = parse_yaml(text, "");
    if (!root.IsMap()) return false;
    return std::any_of(root.begin(), root.end(), [](const auto& entry) {
      return entry.first.IsScalar() && (among(kSections, entry.first.Scalar()) ||
                                        (entry.first.Scalar() == "mapper" && entry.second.IsMap()));
    });
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tilewright
