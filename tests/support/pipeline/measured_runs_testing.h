// The lines of bench/pipeline_calibration/measured.txt: a component, its family and sizes, and what Yosys
// counted of it. For the tests of the resource model and for the programs that measure and fit it.
#pragma once

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/netlist/netlist.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

struct MeasuredRun {
  std::string component;
  std::string configuration;  // family, component and sizes as the line has them
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  netlist::Parameters parameters;
  synthesis::Resources counted;
};

inline int64_t* measured_count(synthesis::Resources& counted, const std::string& name) {
  return name == "lut"    ? &counted.lut
         : name == "ff"   ? &counted.ff
         : name == "dsp"  ? &counted.dsp
         : name == "bram" ? &counted.bram
         : name == "uram" ? &counted.uram
                          : nullptr;
}

inline std::optional<synthesis::DeviceFamily> measured_family(const std::string& name) {
  using synthesis::DeviceFamily;
  for (const DeviceFamily family :
       {DeviceFamily::kXc7, DeviceFamily::kXcup, DeviceFamily::kEcp5, DeviceFamily::kIce40}) {
    if (name == synthesis::family_name(family)) return family;
  }
  return std::nullopt;
}

// Errors (invalid input): another form.
inline MeasuredRun parse_measured_run(const std::string& line) {
  const auto refuse = [&] {
    throw Error(ErrorKind::kInvalidInput, "not a run of a component: '" + line + "'",
                "component, family, then NAME=value, the counts last");
  };
  MeasuredRun run;
  std::istringstream words(line);
  std::string family, item;
  words >> run.component >> family;
  const auto known = measured_family(family);
  if (!known) refuse();
  run.family = *known;
  run.configuration = run.component + " " + family;
  int counts = 0;
  while (words >> item) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos) refuse();
    const std::string name = item.substr(0, equals), value = item.substr(equals + 1);
    const bool number = !value.empty() && value.find_first_not_of("-0123456789") == std::string::npos;
    if (int64_t* count = measured_count(run.counted, name); count != nullptr) {
      if (!number) refuse();
      *count = std::stoll(value);
      ++counts;
      continue;
    }
    run.configuration += " " + item;
    if (number) {
      run.parameters[name] = int64_t(std::stoll(value));
    } else {
      run.parameters[name] = value;
    }
  }
  if (counts != 5) refuse();
  return run;
}

// Empty lines and those that begin with # are left out. Errors (invalid input): no such file, another form.
inline std::vector<MeasuredRun> read_measured_runs(const std::filesystem::path& file) {
  std::vector<MeasuredRun> runs;
  std::istringstream lines(read_text_file(file));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') runs.push_back(parse_measured_run(line));
  }
  return runs;
}

// Whether a configuration is kept from the fit to judge it: a quarter, by a hash of its text.
inline bool held_out(const MeasuredRun& run) { return (fnv1a(run.configuration) >> 32) % 4 == 0; }

}  // namespace tilewright::pipeline
