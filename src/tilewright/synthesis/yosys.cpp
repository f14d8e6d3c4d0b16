// The scripts keep to each family's own flow of Yosys; what differs are pads (an overlay alone is an inner
// block, whose hundreds of ports are no pins) and which hard blocks may be used.
#include "tilewright/synthesis/yosys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {
namespace {

// A file name as one word of a Yosys script.
std::string quoted(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (text.find_first_of("\"\n\\") != std::string::npos) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("Yosys cannot read a file named '{}'", text),
                "use a path without quotes and backslashes");
  }
  return '"' + text + '"';
}

using ModuleCells = std::map<std::string, std::map<std::string, int64_t>>;

constexpr int64_t kMostCells = int64_t{1} << 40;
constexpr int kDeepest = 64;  // modules in modules

[[noreturn]] void fail_form(const std::string& source_name, const std::string& what) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("{}: not a Yosys statistics file: {}", source_name, what),
              "Yosys 0.23 is known to work; see its log next to the file");
}

// The cells of a module and of those in it, `times` over.
void add_cells(const ModuleCells& modules, const std::string& name, int64_t times, int depth,
               std::map<std::string, int64_t>& total) {
  if (depth > kDeepest) throw std::out_of_range("modules contain each other endlessly");
  for (const auto& [type, count] : modules.at(name)) {
    if (count != 0 && times > kMostCells / count) throw std::out_of_range("more cells than any device has");
    // A cell's type is the module's name without the backslash of names from the sources.
    const std::string& inner = modules.count(type) != 0 ? type : "\\" + type;
    if (modules.count(inner) != 0) {
      add_cells(modules, inner, times * count, depth + 1, total);
    } else if ((total[type] += times * count) > kMostCells) {
      throw std::out_of_range("more cells than any device has");
    }
  }
}

// What `stat -json` of Yosys 0.23 prints without the lines of a tree of modules that it puts, as plain text,
// in between where modules lie in modules.
nlohmann::json parse_statistics(const std::string& text, const std::string& source_name) {
  std::string json;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || std::string("\"{}[]").find(line[first]) == std::string::npos) continue;
    json += line + '\n';
  }
  return parse_json(json, source_name);
}

// What `read` makes of the statistics. Errors (invalid input): they do not have the form that it wants.
template <typename Read>
auto read_statistics(const std::string& text, const std::string& source_name, Read read) {
  try {
    return read(parse_statistics(text, source_name));
  } catch (const nlohmann::json::exception& error) {
    fail_form(source_name, error.what());
  } catch (const std::out_of_range& error) {
    fail_form(source_name, error.what());
  }
}

std::map<std::string, int64_t> read_counts(const nlohmann::json& types) {
  std::map<std::string, int64_t> counts;
  for (const auto& entry : types.items()) {
    const std::optional<int64_t> count = json_integer(entry.value(), 0, kMostCells);
    if (!count) throw std::out_of_range("'" + entry.key() + "' has no count of cells");
    counts[entry.key()] = *count;
  }
  return counts;
}

// What the flows of all families call by the same name.
std::string strategy_flags(const YosysJob& job) {
  const ImplementationOptions& o = job.options;
  std::string flags;
  const bool abc9 =
      o.mapper == LutMapper::kAbc9 || (o.mapper == LutMapper::kUsual && job.family == DeviceFamily::kIce40);
  if (abc9) flags += " -abc9";
  if (o.mapper == LutMapper::kAbc2) flags += " -abc2";
  if (o.map_registers) flags += " -dff";
  if (o.retime) flags += " -retime";
  if (!o.carry_chains) flags += job.family == DeviceFamily::kEcp5 ? " -noccu2" : " -nocarry";
  if (!o.clock_enables) flags += " -nodffe";
  if (o.least_enabled > 0) flags += fmt::format(" -dffe_min_ce_use {}", o.least_enabled);
  if (!o.block_memory) flags += " -nobram";
  if (!o.table_memory) flags += " -nolutram";
  return flags;
}

std::string synth_command(const YosysJob& job) {
  std::string command;
  const bool dsp = job.use_dsp && job.options.dsp;
  switch (job.family) {
    case DeviceFamily::kXc7:
    case DeviceFamily::kXcup:
      command = fmt::format("synth_xilinx -family {}", family_name(job.family));
      if (job.options.flatten) command += " -flatten";
      if (!job.with_pads) command += " -noiopad -noclkbuf";
      if (!dsp) command += " -nodsp";
      if (job.use_uram) command += " -uram";
      break;
    case DeviceFamily::kEcp5:
      command = "synth_ecp5";
      if (!job.options.flatten) command += " -noflatten";
      if (!dsp) command += " -nodsp";
      break;
    case DeviceFamily::kIce40:
      command = "synth_ice40";
      if (!job.options.flatten) command += " -noflatten";
      if (dsp) command += " -device u -dsp";
      if (job.use_uram) command += " -spram";
      break;
  }
  return command + strategy_flags(job) + " -top " + job.top;
}

// What asks for a memory that the family does not have gets another: UltraRAM a block, tables of an iCE40 a
// block or registers, whichever is cheaper.
std::string other_memories(const YosysJob& job) {
  std::string script = fmt::format("hierarchy -top {}\n", job.top);
  if (job.family != DeviceFamily::kXcup) script += "setattr -set ram_style \"block\" a:ram_style=ultra\n";
  if (job.family == DeviceFamily::kIce40) script += "setattr -unset ram_style a:ram_style=distributed\n";
  return script;
}

}  // namespace

std::string yosys_script(const YosysJob& job) {
  std::string script;
  for (const std::filesystem::path& source : job.sources) {
    script += fmt::format("read_verilog -sv {}\n", quoted(std::filesystem::absolute(source)));
  }
  if (!job.kept_modules.empty()) script += fmt::format("hierarchy -top {}\n", job.top);
  for (const std::string& module : job.kept_modules) {
    script += fmt::format("setattr -mod -set keep_hierarchy 1 *\\{}\n", module);
  }
  if (job.any_memory) script += other_memories(job);
  if (job.options.synthesis_mhz > 0) {
    script += fmt::format("scratchpad -set abc9.D {:.0f}\n", 1e6 / job.options.synthesis_mhz);
  }
  script += synth_command(job) + "\n";
  script += "check -noinit\n";
  script += "tee -q -o cells.json stat -json\n";
  if (job.write_netlist) {
    script += "write_json netlist.json\n";
    script += "write_verilog -noattr netlist.v\n";
  }
  return script;
}

YosysResult run_yosys(const YosysJob& job) {
  create_folder(job.folder);
  const std::filesystem::path folder = std::filesystem::absolute(job.folder);
  YosysResult result{
      folder / "synth.ys", folder / "yosys.log", folder / "netlist.json", folder / "netlist.v", {}, {}, 0};
  std::error_code ignored;
  for (const std::filesystem::path& old : {result.netlist, result.verilog, folder / "cells.json"}) {
    std::filesystem::remove(old, ignored);  // what an earlier run left must not pass for this one's
  }
  write_text_file(result.script, yosys_script(job));
  result.seconds =
      run_tool_checked({"yosys", {"-q", "-l", "yosys.log", "synth.ys"}, folder, job.timeout_s, job.stop})
          .seconds;
  const std::string cells = read_text_file(folder / "cells.json");
  const std::string source = (folder / "cells.json").string();
  result.cells = parse_cell_counts(cells, source);
  result.module_cells = parse_module_cells(cells, source);
  result.count = count_cells(job.family, result.cells);
  return result;
}

std::map<std::string, std::map<std::string, int64_t>> parse_module_cells(const std::string& json,
                                                                         const std::string& source_name) {
  return read_statistics(json, source_name, [](const nlohmann::json& design) {
    ModuleCells own, total;
    for (const auto& module : design.at("modules").items()) {
      own[module.key()] = read_counts(module.value().at("num_cells_by_type"));
    }
    for (const auto& module : own) {
      const std::string& name = module.first;
      add_cells(own, name, 1, 0, total[name.starts_with('\\') ? name.substr(1) : name]);
    }
    return total;
  });
}

std::map<std::string, int64_t> parse_cell_counts(const std::string& json, const std::string& source_name) {
  return read_statistics(json, source_name, [](const nlohmann::json& design) {
    return read_counts(design.at("design").at("num_cells_by_type"));
  });
}

}  // namespace tilewright::synthesis
