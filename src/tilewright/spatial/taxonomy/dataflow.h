// A dataflow: which loop tilings a machine may use, and the accesses that each costs, as expressions in a
// YAML file (dataflows/*.yaml, docs/reference/dataflows.md). The six dataflows of the row-stationary paper
// and those that users write have the same form.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/spatial/formula/expression.h"

namespace tilewright::study {

enum class Level : uint8_t { kDram, kBuffer, kArray, kRegisterFile };
enum class DataType : uint8_t { kInput, kWeight, kOutput };
inline constexpr int kLevels = 4, kDataTypes = 3;
const char* level_name(Level level);        // "dram", "buffer", "array", "register_file"
const char* data_type_name(DataType type);  // "input", "weight", "output"

// The names that every expression may use: the layer's shape, its words and MACs, then the machine. The
// symbols of parameters and variables follow.
//   G N C M H W R S E F U   layer_shape.h
//   I K O MAC               input, weight and output words; multiply-accumulates
//   J Q RF                  PEs, words of the buffer, words of one PE's register file
inline constexpr std::array<const char*, 18> kFixedSymbols = {"G", "N", "C", "M", "H", "W",   "R", "S", "E",
                                                              "F", "U", "I", "K", "O", "MAC", "J", "Q", "RF"};

struct DataflowVariable {
  std::string name;
  int upper = 0;  // node; the variable runs over the whole numbers 1..upper
};

struct DataflowParameter {
  std::string name;
  double value = 0;
};

struct DataflowConstraint {
  std::string name;
  std::string text;  // as written
  Comparison comparison;
};

// One loop of the mapping that an instance stands for; dimensions are those of conv2d_workload.
struct TemplateLoop {
  std::string dimension;
  int factor = -1;         // node; -1: whatever is left of the dimension
  bool spatial_y = false;  // only for spatial loops
};
struct TemplateLevel {
  std::string name;
  std::vector<TemplateLoop> temporal, spatial;
  bool keeps_all = true;
  std::vector<std::string> keeps;  // data spaces, unless keeps_all
};

// Nodes of Dataflow::graph per level and data type; the constant 0 where nothing is charged.
using AccessNodes = std::array<std::array<int, kDataTypes>, kLevels>;

struct Dataflow {
  std::string name;
  std::string title;
  int64_t register_file_bytes = 0;  // per PE, the same for all layers
  std::vector<DataflowParameter> parameters;
  std::vector<DataflowVariable> variables;
  std::vector<DataflowConstraint> constraints;
  ExpressionGraph graph;
  AccessNodes reported{};   // accesses of one layer
  AccessNodes objective{};  // what the search charges instead; the same nodes if the file says nothing
  int active_pes = 0;       // node
  std::vector<TemplateLevel> mapping;  // empty: the file gives none

  // Index of the symbol of variable 0; parameters come before.
  int first_variable_symbol() const { return int(kFixedSymbols.size() + parameters.size()); }
};

// Errors (invalid input): everything wrong in the file, each with file, line and key.
Dataflow parse_dataflow(const std::string& text, const std::string& source_name);
Dataflow read_dataflow(const std::filesystem::path& path);
// The dataflows NAME.yaml of a folder, in the order of `names`.
std::vector<Dataflow> read_dataflows(const std::filesystem::path& folder,
                                     const std::vector<std::string>& names);
// The names of the taxonomy: ws, osa, osb, osc, nlr, rs.
const std::vector<std::string>& taxonomy_names();

}  // namespace tilewright::study
