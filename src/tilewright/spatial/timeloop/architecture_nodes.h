// The components of an architecture in one list, outermost first, whatever form the file has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/spatial/timeloop/yaml_source.h"

namespace tilewright::timeloop {

struct ArchitectureNode {
  std::string name;
  std::string type;  // class, in lower case
  // Where the component's keys stand: itself or its `attributes`, and those it inherits, innermost last.
  std::vector<Source> attributes;
  Source place;
  int64_t instances = 1;
  int64_t mesh_x = 0;        // 0: not stated
  bool fanout_only = false;  // a container that multiplies what is inside it
  std::vector<std::string> aliases;
  // Siblings of !Parallel, by a number above 0: a data space kept by one is bypassed by the others.
  int parallel_group = 0;
  Source constraints;

  // The innermost statement of an attribute.
  Source attribute(const std::string& key) const;
};

std::vector<ArchitectureNode> architecture_nodes(const Source& section, Report& report);

}  // namespace tilewright::timeloop
