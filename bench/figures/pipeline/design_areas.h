// What Yosys counts of generated designs, kept in a file of results between runs: a design is counted once,
// and a stopped measurement goes on where it was. Lines of the file: key, then lut ff dsp bram uram, or the
// time limit in seconds that was not enough. The key holds a hash of the sources, a component's of those that
// it is made of.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/pipeline/estimate/estimate.h"
#include "tilewright/pipeline/estimate/resource_model.h"

namespace tilewright {

struct AreaLimits {
  double whole_s = 1200, component_s = 600;
};

// A design's counts beside its estimate. Of a sum by module whose modules did not all end, both without the
// ones left out.
struct DesignArea {
  synthesis::Resources counted, estimated;
  bool whole = false;
  std::vector<std::string> left_out;
};

class DesignAreas {
 public:
  DesignAreas(std::filesystem::path folder, AreaLimits limits)
      : folder_(std::move(folder)),
        limits_(limits),
        rtl_(source_hash([](const std::string&) { return true; })) {
    create_folder(folder_);
    read_results();
  }

  // The whole design, or nothing where the time limit passes. `identity`: what the design follows from.
  std::optional<DesignArea> whole(const std::string& identity, const pipeline::Design& design,
                                  const synthesis::Resources& estimate, synthesis::DeviceFamily family) {
    const std::string key = fmt::format("{}:whole:{:016x}", rtl_, fnv1a(identity));
    if (const auto found = results_.find(key); found != results_.end()) {
      return DesignArea{found->second, estimate, true, {}};
    }
    if (const auto found = unfinished_.find(key);
        found != unfinished_.end() && found->second >= limits_.whole_s) {
      return std::nullopt;
    }
    const std::filesystem::path folder = yosys_folder(key);
    try {
      keep(key, pipeline::count_resources(design, options(folder, family, limits_.whole_s)).resources);
    } catch (const Error& error) {
      fmt::print("    not whole: {}\n", error.what());
      unfinished_[key] = limits_.whole_s;
      append(fmt::format("{}\t{}\n", key, -limits_.whole_s));
    }
    std::filesystem::remove_all(folder);
    const auto found = results_.find(key);
    if (found == results_.end()) return std::nullopt;
    return DesignArea{found->second, estimate, true, {}};
  }

  // Each distinct component once, times how often it stands in the design.
  DesignArea sum(const pipeline::Design& design, synthesis::DeviceFamily family, bool print) {
    using pipeline::operator+;
    const std::vector<pipeline::DistinctComponent> components = pipeline::distinct_components(design);
    count_missing(components, design, family);
    DesignArea area;
    for (const pipeline::DistinctComponent& component : components) {
      const auto counted = results_.find(component_key(component, family));
      if (counted == results_.end()) {
        area.left_out.push_back(component.signature);
        continue;
      }
      const synthesis::Resources estimate = estimated(component, family);
      if (print) print_component(component, counted->second, estimate);
      for (int64_t i = 0; i < component.times; ++i) {
        area.counted = area.counted + counted->second;
        area.estimated = area.estimated + estimate;
      }
    }
    return area;
  }

 private:
  using Components = std::vector<const pipeline::DistinctComponent*>;
  static constexpr int64_t kSmallLut = 2500;
  static constexpr size_t kTogether = 12;

  std::string component_key(const pipeline::DistinctComponent& component,
                            synthesis::DeviceFamily family) const {
    const std::string& module = component.instance->module;
    std::string& hash = component_rtl_[module];
    if (hash.empty()) {
      std::set<std::string> names = {pipeline::component_module(module)};
      for (const char* used : pipeline::component_type(module)->uses) {
        names.insert(pipeline::component_module(used));
      }
      hash = source_hash([&](const std::string& name) { return names.count(name) != 0; });
    }
    return fmt::format("{}:{}:{}", hash, synthesis::family_name(family), component.signature);
  }
  static synthesis::Resources estimated(const pipeline::DistinctComponent& component,
                                        synthesis::DeviceFamily family) {
    return pipeline::component_resources(component.instance->module, component.instance->parameters, family);
  }

  // Small ones a dozen at a time, which saves Yosys' start; what fails so is tried by itself.
  void count_missing(const std::vector<pipeline::DistinctComponent>& components,
                     const pipeline::Design& design, synthesis::DeviceFamily family) {
    Components together, alone;
    for (const pipeline::DistinctComponent& component : components) {
      const std::string key = component_key(component, family);
      if (results_.count(key) != 0) continue;
      if (unfinished_.count(key) != 0 && unfinished_[key] >= limits_.component_s) continue;
      const bool rom = component.instance->module == "rom_walker";  // by columns, if it is wide
      const int64_t width = netlist::integer_or(component.instance->parameters, "WIDTH", 1);
      const bool small = rom || (estimated(component, family).lut <= kSmallLut && width <= 2048);
      (small ? together : alone).push_back(&component);
    }
    for (size_t first = 0; first < together.size(); first += kTogether) {
      const Components some(together.begin() + std::ptrdiff_t(first),
                            together.begin() + std::ptrdiff_t(std::min(together.size(), first + kTogether)));
      if (!count(some, design, family)) alone.insert(alone.end(), some.begin(), some.end());
    }
    for (const pipeline::DistinctComponent* one : alone) {
      if (count({one}, design, family)) continue;
      const std::string key = component_key(*one, family);
      unfinished_[key] = limits_.component_s;
      append(fmt::format("{}\t{}\n", key, -limits_.component_s));
    }
  }

  // False where they do not end in time.
  bool count(const Components& components, const pipeline::Design& design, synthesis::DeviceFamily family) {
    std::vector<const netlist::Instance*> instances;
    for (const pipeline::DistinctComponent* component : components) instances.push_back(component->instance);
    const std::filesystem::path folder = yosys_folder(component_key(*components[0], family));
    try {
      const std::vector<pipeline::ComponentCount> counts =
          pipeline::count_components(instances, design.images, options(folder, family, limits_.component_s));
      for (size_t i = 0; i < counts.size(); ++i) {
        keep(component_key(*components[i], family), counts[i].count.resources);
      }
      std::filesystem::remove_all(folder);
      return true;
    } catch (const Error& error) {
      fmt::print("    {} modules, {} the first: {}\n", components.size(), components[0]->signature,
                 error.what());
      std::filesystem::remove_all(folder);
      return false;
    }
  }

  void append(const std::string& line) { std::ofstream(results_file(), std::ios::app) << line; }
  void keep(const std::string& key, const synthesis::Resources& r) {
    results_[key] = r;
    append(fmt::format("{}\t{} {} {} {} {}\n", key, r.lut, r.ff, r.dsp, r.bram, r.uram));
  }

  static void print_component(const pipeline::DistinctComponent& component,
                              const synthesis::Resources& counted, const synthesis::Resources& estimate) {
    fmt::print("    {} x {}: LUT {} of {}, FF {} of {}, DSP {} of {}, BRAM18 {} of {}, URAM {} of {}\n",
               component.times, component.signature, estimate.lut, counted.lut, estimate.ff, counted.ff,
               estimate.dsp, counted.dsp, estimate.bram, counted.bram, estimate.uram, counted.uram);
  }

  // Of the files of rtl/pipeline whose names without extension are wanted.
  static std::string source_hash(const std::function<bool(const std::string&)>& wanted) {
    std::set<std::filesystem::path> sources;
    const std::filesystem::path folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl" / "pipeline";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (wanted(entry.path().stem().string())) sources.insert(entry.path());
    }
    std::string all;
    for (const std::filesystem::path& source : sources) all += read_text_file(source);
    return fmt::format("{:016x}", fnv1a(all));
  }

  std::filesystem::path results_file() const { return folder_ / "results.txt"; }

  // Limits of runs that did not end are negative.
  void read_results() {
    std::ifstream file(results_file());
    for (std::string line; std::getline(file, line);) {
      const size_t tab = line.find('\t');
      if (tab == std::string::npos) continue;
      std::istringstream numbers(line.substr(tab + 1));
      synthesis::Resources r;
      double limit = 0;
      if (line[tab + 1] == '-') {
        numbers >> limit;
        unfinished_[line.substr(0, tab)] = -limit;
      } else if (numbers >> r.lut >> r.ff >> r.dsp >> r.bram >> r.uram) {
        results_[line.substr(0, tab)] = r;
      }
    }
  }

  std::filesystem::path yosys_folder(const std::string& key) const {
    return folder_ / fmt::format("{:016x}", fnv1a(key));
  }

  pipeline::DesignSynthesisOptions options(const std::filesystem::path& folder,
                                           synthesis::DeviceFamily family, double timeout_s) {
    pipeline::DesignSynthesisOptions options;
    options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
    options.folder = folder;
    options.family = family;
    options.timeout_s = timeout_s;
    return options;
  }

  std::filesystem::path folder_;
  AreaLimits limits_;
  std::string rtl_;
  mutable std::map<std::string, std::string> component_rtl_;  // by module
  std::map<std::string, synthesis::Resources> results_;
  std::map<std::string, double> unfinished_;
};

}  // namespace tilewright
