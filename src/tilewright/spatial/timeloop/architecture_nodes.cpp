// Three syntaxes, one list. Older files state absolute instance counts; v0.4 nodes state the fan-out into
// each node, which is multiplied up here.
#include "tilewright/spatial/timeloop/architecture_nodes.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "tilewright/base/plain_text.h"
#include "tilewright/hardware/array_rules.h"
#include "tilewright/spatial/timeloop/architecture.h"

namespace tilewright::timeloop {
namespace {

constexpr int kMostDepth = 32;
constexpr int kMostVisits = 512;

const std::set<std::string> kComponentKeys{"name",       "class",       "subclass", "attributes",
                                           "spatial",    "constraints", "enabled",  "required_actions",
                                           "area_scale", "energy_scale"};

class NodeCollector {
 public:
  explicit NodeCollector(Report& report) : report_(report) {}

  std::vector<ArchitectureNode> run(const Source& section) {
    if (child(section, "storage") || child(section, "arithmetic")) {
      storage_lists(section);
    } else if (child(section, "subtree") || child(section, "local")) {
      subtree(section, {}, 1, 0);
    } else if (child(section, "nodes")) {
      nodes(child(section, "nodes"), {}, 0, 0);
    } else {
      report_.invalid(section, "architecture", "neither storage levels, nor a subtree, nor nodes");
    }
    return std::move(nodes_);
  }

 private:
  bool room(const Source& place, int depth) {
    // Visits count as well: aliases can make a short text an endless tree.
    if (depth <= kMostDepth && ++visits_ <= kMostVisits) return true;
    if (!full_) report_.unsupported(place, "architecture", "more than 512 components or 32 nested groups");
    full_ = true;
    return false;
  }

  void component_keys(const Source& component) {
    report_.only_keys(component, kComponentKeys);
    const Source enabled = child(component, "enabled");
    bool on = true;
    if (enabled && (!YAML::convert<bool>::decode(enabled.node, on) || !on)) {
      report_.unsupported(enabled, "enabled", "a component that is switched off", "remove it");
    }
    for (const char* key : {"area_scale", "energy_scale"}) {
      if (child(component, key))
        report_.note(component, key, "is for estimating energies and areas: not used");
    }
  }

  // {arithmetic: {...}, storage: [innermost, ..., outermost]}
  void storage_lists(const Source& section) {
    report_.only_keys(section, {"storage", "arithmetic", "version", "name"});
    std::vector<Source> levels = items(child(section, "storage"));
    std::reverse(levels.begin(), levels.end());
    const Source arithmetic = child(section, "arithmetic");
    if (levels.empty()) report_.invalid(section, "storage", "a list of levels is expected");
    if (!arithmetic.is_map()) return report_.invalid(section, "arithmetic", "a map is expected");
    levels.push_back(arithmetic);
    for (const Source& level : levels) {
      if (!room(level, 0)) return;
      ArchitectureNode node;
      node.place = level;
      node.name = child(level, "name").text();
      node.type = &level == &levels.back() ? "compute" : "storage";
      node.attributes = {level};
      node.instances = report_.integer(level, "instances", 1, kMostArrayInstances, 1);
      node.mesh_x = report_.integer(level, "meshX", 1, kMostArrayInstances, 0);
      nodes_.push_back(std::move(node));
    }
  }

  // subtree: [{name, attributes, local: [component...], subtree: [...]}], counts multiplied on the way in.
  void subtree(const Source& tree, const std::vector<Source>& inherited, int64_t count, int depth) {
    if (!room(tree, depth)) return;
    report_.only_keys(tree, {"name", "attributes", "local", "subtree", "version"});
    std::vector<Source> attributes = inherited;
    if (child(tree, "attributes").is_map()) attributes.push_back(child(tree, "attributes"));
    for (const Source& component : items(child(tree, "local"))) {
      if (!room(component, depth)) return;
      component_keys(component);
      ArchitectureNode node;
      const int64_t own = count_in_name(component, node.name);
      node.place = component;
      node.instances = multiply(component, count, own);
      node.type = lower_case(child(component, "class").text());
      node.attributes = attributes;
      if (child(component, "attributes").is_map()) node.attributes.push_back(child(component, "attributes"));
      node.mesh_x = report_.integer(node.attributes.empty() ? component : node.attributes.back(), "meshX", 1,
                                    kMostArrayInstances, 0);
      node.constraints = child(component, "constraints");
      nodes_.push_back(std::move(node));
    }
    for (const Source& inner : items(child(tree, "subtree"))) {
      std::string inner_name;
      const int64_t own = count_in_name(inner, inner_name);
      subtree(inner, attributes, multiply(inner, count, own), depth + 1);
    }
  }

  // The instances that a name "PE[0..15]" says, and the name without them.
  int64_t count_in_name(const Source& place, std::string& name) {
    int64_t count = 1;
    const std::string text = child(place, "name").text();
    name = without_range(text, count);
    if (count > 0) return count;
    report_.invalid(
        place, "name",
        fmt::format("'{}' does not end in a range of at most 2^30 instances, as PE[0..15] does", text));
    return 1;
  }

  int64_t multiply(const Source& place, int64_t a, int64_t b) {
    if (a <= kMostArrayInstances / b) return a * b;
    report_.invalid(place, "name", "more than 2^30 instances");
    return a;
  }

  // v0.4: [!Container {...}, !Component {...}, !Parallel {nodes: [...]}, ...]
  void nodes(const Source& list, std::vector<Source> inherited, int depth, int group) {
    if (!list.is_list()) return report_.invalid(list, "nodes", "a list of nodes is expected");
    for (const Source& item : items(list)) {
      if (!room(item, depth)) return;
      const std::string tag = item.node.Tag();
      if (tag == "!Nothing") continue;  // stands for a node that was taken out
      if (tag == "!Parallel" || tag == "!Hierarchical") {
        // Siblings of a hierarchy inside !Parallel belong together: they count as one of its branches.
        nodes(child(item, "nodes"), inherited, depth + 1, tag == "!Parallel" ? ++groups_ : group);
        continue;
      }
      if (!item.is_map() || (tag != "!Component" && tag != "!Container")) {
        report_.unsupported(item, "nodes", fmt::format("a node of kind '{}'", tag),
                            "!Component, !Container, !Parallel and !Hierarchical are supported");
        continue;
      }
      component_keys(item);
      ArchitectureNode node;
      node.place = item;
      node.name = child(item, "name").text();
      node.type = lower_case(child(item, "class").text());
      node.constraints = child(item, "constraints");
      node.fanout_only = tag == "!Container";
      node.parallel_group = group;
      node.attributes = inherited;
      if (child(item, "attributes").is_map()) node.attributes.push_back(child(item, "attributes"));
      const Source spatial = child(item, "spatial");
      if (spatial) report_.only_keys(spatial, {"meshX", "meshY"});
      const int64_t x = report_.integer(spatial, "meshX", 1, kMostArrayInstances, 1);
      const int64_t y = report_.integer(spatial, "meshY", 1, kMostArrayInstances, 1);
      mesh_x_ = multiply(item, mesh_x_, x);
      instances_ = multiply(item, multiply(item, instances_, x), y);
      node.instances = instances_;
      node.mesh_x = mesh_x_;
      if (node.fanout_only) {
        inherited = node.attributes;
        if (x * y == 1 && !node.constraints) continue;
      }
      nodes_.push_back(std::move(node));
    }
  }

  Report& report_;
  std::vector<ArchitectureNode> nodes_;
  int64_t instances_ = 1, mesh_x_ = 1;
  int groups_ = 0, visits_ = 0;
  bool full_ = false;
};

}  // namespace

std::string without_range(const std::string& name, int64_t& count) {
  count = 1;
  const size_t open = name.find('[');
  const size_t dots = name.find("..", open == std::string::npos ? 0 : open);
  if (open == std::string::npos || dots == std::string::npos || name.back() != ']') return name;
  const auto number = [](std::string_view digits, int64_t& value) {
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  };
  const std::string_view text = name;
  int64_t first = 0, last = 0;
  const bool sound = number(text.substr(open + 1, dots - open - 1), first) &&
                     number(text.substr(dots + 2, text.size() - dots - 3), last) && first >= 0 &&
                     last >= first && last < kMostArrayInstances;
  count = sound ? last - first + 1 : 0;
  return name.substr(0, open);
}

Source ArchitectureNode::attribute(const std::string& key) const {
  for (auto source = attributes.rbegin(); source != attributes.rend(); ++source) {
    const Source value = child(*source, key);
    if (value) return value;
  }
  return place.with(YAML::Node(YAML::NodeType::Undefined));
}

std::vector<ArchitectureNode> architecture_nodes(const Source& section, Report& report) {
  return NodeCollector(report).run(section);
}

}  // namespace tilewright::timeloop
