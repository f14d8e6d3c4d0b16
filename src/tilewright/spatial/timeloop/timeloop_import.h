// Import of the files of Timeloop, the analytical mapper most architects have files for: architecture, energy
// table, problem, mapspace constraints and mapping, in its older syntax (lists of storage levels, directives)
// and in v0.4 (!Component and !Container nodes). docs/guides/timeloop_import.md says what each key becomes
// and what is refused.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

struct TimeloopText {
  std::string name;  // for messages
  std::string text;
};

// What the files together describe. Data spaces are in the order input, weight, output under their own
// names; levels and dimensions have the names of the files.
struct TimeloopImport {
  std::optional<ArrayHardware> hardware;
  std::optional<Workload> workload;
  std::optional<Mapspace> mapspace;  // when there are an architecture and a problem
  std::optional<Mapping> mapping;
  // Keys that were read over because they say nothing about counts, energy or time here.
  std::vector<Diagnostic> notes;
};

// Errors: all problems of all files at once, each with file, line and key: invalid input for what is wrong,
// unsupported for what would change the answer and has no counterpart here.
TimeloopImport import_timeloop(std::span<const TimeloopText> texts);
TimeloopImport read_timeloop(std::span<const std::filesystem::path> files);

// Whether a YAML text has a section of Timeloop's (arch, problem, mapspace, ...); false if it does not parse.
bool is_timeloop_text(const std::string& text);

}  // namespace tilewright
