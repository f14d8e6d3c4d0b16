// Reading dataflow files.
#include <fmt/format.h>

#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/spatial/formula/box_search.h"
#include "tilewright/spatial/taxonomy/dataflow.h"

namespace tilewright::study {
namespace {

constexpr size_t kMostEntries = 200;  // of one section

class Reader {
 public:
  Reader(const std::string& source_name, Diagnostics& diagnostics)
      : source_(source_name), diagnostics_(diagnostics) {
    for (size_t k = 0; k < kFixedSymbols.size(); ++k) {
      scope_[kFixedSymbols[k]] = flow_.graph.symbol(int(k));
    }
  }

  Dataflow read(const YAML::Node& root) {
    YamlMap map(root, source_, diagnostics_);
    flow_.name = map.text("name", std::filesystem::path(source_).stem().string());
    flow_.title = map.text("title", flow_.name);
    flow_.register_file_bytes = map.integer("register_file_bytes", 0, int64_t{1} << 30);
    read_parameters(map.child("parameters"));
    read_variables(map.child("variables"));
    read_let(map.child("let"));
    zero_ = flow_.graph.constant(0);
    for (auto& row : flow_.reported) row.fill(zero_);
    read_accesses(map.child("accesses"), "accesses", flow_.reported);
    flow_.objective = flow_.reported;
    const YAML::Node objective = map.child("objective"), mapping = map.child("mapping");
    if (objective.IsDefined()) read_accesses(objective, "objective", flow_.objective);
    read_constraints(map.child("constraints"));
    flow_.active_pes = expression(map.child("active_pes"), "active_pes");
    if (mapping.IsDefined()) read_mapping(mapping);
    map.finish();
    return std::move(flow_);
  }

 private:
  std::string place(const YAML::Node& node) const {
    if (!node.IsDefined() || node.Mark().is_null()) return source_;
    return fmt::format("{}:{}", source_, node.Mark().line + 1);
  }

  void error(const YAML::Node& node, const std::string& key, const std::string& message,
             const std::string& hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, place(node), key, message, hint);
  }

  // Calls body(name, value) for the entries of an optional map; names must be texts and differ.
  template <typename Body>
  void for_each_entry(const YAML::Node& section, const std::string& key, const Body& body) {
    if (!section.IsDefined()) return;
    if (!section.IsMap()) return error(section, key, "a map of 'name: value' lines is expected");
    if (section.size() > kMostEntries) {
      return error(section, key, fmt::format("more than {} entries", kMostEntries));
    }
    std::set<std::string> seen;
    for (const auto& entry : section) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (name.empty() || !seen.insert(name).second) {
        error(entry.first, key, "each entry needs a name of its own");
      } else {
        body(name, entry.second);
      }
    }
  }

  // Adds a name to what expressions may use.
  void define(const YAML::Node& node, const std::string& key, const std::string& name, int value) {
    if (!is_expression_name(name)) {
      error(node, key, fmt::format("'{}' is not a name", name), "letters, digits and underscores");
    } else if (!scope_.try_emplace(name, value).second) {
      error(node, key, fmt::format("'{}' is taken", name));
    }
  }

  int expression(const YAML::Node& node, const std::string& key) {
    if (!node.IsDefined() || !node.IsScalar()) {
      error(node, key, "an expression is expected");
      return flow_.graph.constant(1);
    }
    return parse_expression(node.Scalar(), {place(node), key}, scope_, flow_.graph, diagnostics_);
  }

  void read_parameters(const YAML::Node& section) {
    for_each_entry(section, "parameters", [&](const std::string& name, const YAML::Node& value) {
      double number = 0;
      if (!YAML::convert<double>::decode(value, number) || !(number >= -1e12 && number <= 1e12)) {
        error(value, "parameters." + name, "a number in -1e12..1e12 is expected");
      }
      define(value, "parameters." + name, name,
             flow_.graph.symbol(int(kFixedSymbols.size() + flow_.parameters.size())));
      flow_.parameters.push_back({name, number});
    });
  }

  void read_variables(const YAML::Node& section) {
    // Upper bounds may name the layer, the machine and parameters, not other variables: a box is a product of
    // ranges.
    const Scope before = scope_;
    std::map<std::string, int> symbols;
    for_each_entry(section, "variables", [&](const std::string& name, const YAML::Node& value) {
      const std::string key = "variables." + name;
      DataflowVariable variable{name, flow_.graph.constant(1)};
      if (!value.IsScalar()) {
        error(value, key, "an upper bound is expected");
      } else {
        variable.upper =
            parse_expression(value.Scalar(), {place(value), key}, before, flow_.graph, diagnostics_);
      }
      define(value, key, name,
             flow_.graph.symbol(flow_.first_variable_symbol() + int(flow_.variables.size())));
      flow_.variables.push_back(variable);
    });
    if (flow_.variables.empty() || flow_.variables.size() > size_t(kMostVariables)) {
      error(section, "variables", fmt::format("between 1 and {} variables are expected", kMostVariables));
    }
  }

  void read_let(const YAML::Node& section) {
    for_each_entry(section, "let", [&](const std::string& name, const YAML::Node& value) {
      define(value, "let." + name, name, expression(value, "let." + name));
    });
  }

  void read_accesses(const YAML::Node& section, const std::string& key, AccessNodes& nodes) {
    if (!section.IsDefined()) return error(section, key, "missing section");
    for_each_entry(section, key, [&](const std::string& level, const YAML::Node& counts) {
      int row = 0;
      while (row < kLevels && level != level_name(Level(row))) ++row;
      if (row == kLevels) {
        return error(counts, key + "." + level, "unknown level", "dram, buffer, array or register_file");
      }
      for_each_entry(counts, key + "." + level, [&](const std::string& type, const YAML::Node& count) {
        int column = 0;
        while (column < kDataTypes && type != data_type_name(DataType(column))) ++column;
        const std::string path = key + "." + level + "." + type;
        if (column == kDataTypes) return error(count, path, "unknown data type", "input, weight or output");
        nodes[size_t(row)][size_t(column)] = expression(count, path);
      });
    });
  }

  void read_constraints(const YAML::Node& section) {
    for_each_entry(section, "constraints", [&](const std::string& name, const YAML::Node& value) {
      const std::string key = "constraints." + name;
      if (!value.IsScalar()) return error(value, key, "a comparison of two expressions is expected");
      flow_.constraints.push_back(
          {name, value.Scalar(),
           parse_comparison(value.Scalar(), {place(value), key}, scope_, flow_.graph, diagnostics_)});
    });
  }

  TemplateLoop read_loop(const YAML::Node& node, const std::string& key) {
    TemplateLoop loop;
    if (!node.IsMap() || node.size() != 1 || !node.begin()->first.IsScalar()) {
      error(node, key, "a loop 'dimension: factor' is expected");
      return loop;
    }
    loop.dimension = node.begin()->first.Scalar();
    const YAML::Node factor = node.begin()->second;
    static const std::set<std::string> kDimensions = {"N", "G", "M", "C", "P", "Q", "R", "S"};
    if (kDimensions.count(loop.dimension) == 0) {
      error(node, key, fmt::format("'{}' is not a dimension of a convolution", loop.dimension),
            "N, G, M, C, P, Q, R, S");
    }
    if (factor.IsScalar() && factor.Scalar() == "rest") return loop;
    loop.factor = expression(factor, key);
    return loop;
  }

  void read_loops(YamlMap& level, const std::string& name, const std::string& key,
                  std::vector<TemplateLoop>& loops) {
    const YAML::Node list = level.child(name);
    if (!list.IsDefined()) return;
    if (!list.IsSequence() || list.size() > kMostEntries) {
      return error(list, key + "." + name, "a list of loops is expected");
    }
    for (const YAML::Node& entry : list) loops.push_back(read_loop(entry, key + "." + name));
  }

  void read_mapping(const YAML::Node& section) {
    if (!section.IsSequence() || section.size() == 0 || section.size() > kMostEntries) {
      return error(section, "mapping", "a list of levels, outermost first, is expected");
    }
    for (const YAML::Node& entry : section) {
      YamlMap level(entry, source_, diagnostics_);
      TemplateLevel result;
      result.name = level.text("level");
      const std::string key = "mapping." + result.name;
      read_loops(level, "temporal", key, result.temporal);
      read_loops(level, "spatial", key, result.spatial);
      std::vector<TemplateLoop> down;
      read_loops(level, "spatial_y", key, down);
      for (TemplateLoop& loop : down) {
        loop.spatial_y = true;
        result.spatial.push_back(loop);
      }
      if (level.has("keeps")) read_keeps(level.child("keeps"), key + ".keeps", result);
      level.finish();
      flow_.mapping.push_back(std::move(result));
    }
  }

  void read_keeps(const YAML::Node& list, const std::string& key, TemplateLevel& level) {
    level.keeps_all = false;
    if (!list.IsSequence()) return error(list, key, "a list of data types is expected");
    for (const YAML::Node& entry : list) {
      const std::string name = entry.IsScalar() ? entry.Scalar() : "";
      if (name != "input" && name != "weight" && name != "output") {
        error(entry, key, fmt::format("'{}' is not a data type", name), "input, weight or output");
      }
      level.keeps.push_back(name);
    }
  }

  std::string source_;
  Diagnostics& diagnostics_;
  Dataflow flow_;
  Scope scope_;
  int zero_ = 0;
};

}  // namespace

const char* level_name(Level level) {
  static constexpr const char* kNames[] = {"dram", "buffer", "array", "register_file"};
  return kNames[size_t(level)];
}

const char* data_type_name(DataType type) {
  static constexpr const char* kNames[] = {"input", "weight", "output"};
  return kNames[size_t(type)];
}

Dataflow parse_dataflow(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  Dataflow flow = Reader(source_name, diagnostics).read(parse_yaml(text, source_name));
  diagnostics.raise_if_any();
  return flow;
}

Dataflow read_dataflow(const std::filesystem::path& path) {
  return parse_dataflow(read_text_file(path, size_t{1} << 20), path.string());
}

std::vector<Dataflow> read_dataflows(const std::filesystem::path& folder,
                                     const std::vector<std::string>& names) {
  std::vector<Dataflow> flows;
  for (const std::string& name : names) flows.push_back(read_dataflow(folder / (name + ".yaml")));
  return flows;
}

const std::vector<std::string>& taxonomy_names() {
  static const std::vector<std::string> kNames = {"ws", "osa", "osb", "osc", "nlr", "rs"};
  return kNames;
}

}  // namespace tilewright::study
