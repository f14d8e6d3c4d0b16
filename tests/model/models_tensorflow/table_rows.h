// What the tests ask of a table of stages.
#pragma once

#include <map>
#include <string>

#include "tilewright/flow/model/graph_table.h"

namespace tilewright {

using Counts = std::map<std::string, int>;

inline std::map<std::string, GraphTableRow> by_stage(const GraphTable& table) {
  std::map<std::string, GraphTableRow> rows;
  for (const GraphTableRow& row : table.rows) rows[row.stage] = row;
  return rows;
}

// Layers and sums; what is left of the layout does not count.
inline Counts layers(const GraphTable& table) {
  Counts counts = table.fused_operators;
  for (const char* other : {"Transpose", "Flatten", "Softmax", "Relu in a layer", "MaxPool in a layer",
                            "GlobalAveragePool in a layer"}) {
    counts.erase(other);
  }
  return counts;
}

}  // namespace tilewright
