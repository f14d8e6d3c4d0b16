// Names of networks become identifiers, since none of these tools takes all characters.
#include "tilewright/pipeline/emit/board_files.h"

#include <fmt/format.h>

#include "tilewright/hardware/register_map.h"
#include "tilewright/netlist/names.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

constexpr size_t kLongestIpName = 48;

std::string ip_name(const Design& design) {
  const std::string name = netlist::identifier_part(design.name, kLongestIpName);
  return name.empty() ? "network" : netlist::legal_names({name}).front();
}

// Without what would end a text of Tcl or YAML.
std::string plain_title(const Design& design) {
  std::string title;
  for (const char c : netlist::comment_text(design.name))
    title += std::string_view("{}[]\"$'").find(c) != std::string_view::npos ? '?' : c;
  return title + " in hardware";
}

std::string tcl_list(const char* name, const std::vector<std::string>& items) {
  std::string text = fmt::format("set {} {{\n", name);
  for (const std::string& item : items) text += fmt::format("  {}\n", item);
  return text + "}\n";
}

std::vector<std::string> master_names(const Design& design) {
  std::vector<std::string> names;
  for (int64_t c = 0; c < design.channels; ++c) names.push_back(fmt::format("m{}_axi", c));
  return names;
}

RegisterMap register_map(const Design& design) {
  return {"tilewright_registers", "Registers of the design for " + plain_title(design), kRegisters};
}

std::string fileset(const char* name, const std::vector<std::string>& files, const char* type, bool copied) {
  std::string text = fmt::format("  {}:\n    files:\n", name);
  for (const std::string& file : files) {
    text += copied ? fmt::format("      - {0}: {{copyto: {0}}}\n", file) : fmt::format("      - {}\n", file);
  }
  return text + fmt::format("    file_type: {}\n", type);
}

}  // namespace

std::string design_vlnv(const Design& design) {
  return fmt::format("tilewright:design:{}:1.0", ip_name(design));
}

std::string tcl_constants(const Design& design, const BoardFiles& files) {
  std::string text =
      fmt::format("set part {}\nset top {}\nset vendor tilewright\nset library design\nset name {}\n",
                  files.part, files.top, ip_name(design));
  text += fmt::format("set version 1.0\nset vlnv {}\nset title {{{}}}\nset clock_mhz {:g}\n",
                      design_vlnv(design), plain_title(design), design.clock_mhz);
  text += tcl_list("sources", files.sources) + tcl_list("masters", master_names(design));
  text += "set interfaces [concat s_axi $masters]\n";
  return text + "# Name, offset, bytes, access, meaning.\nset registers {\n" +
         tcl_registers(register_map(design)) + "}\n";
}

std::string fusesoc_core(const Design& design, const BoardFiles& files) {
  std::string text = fmt::format("CAPI=2:\nname: {}\ndescription: \"{}\"\n\nfilesets:\n", design_vlnv(design),
                                 plain_title(design));
  text += fileset("rtl", files.sources, "systemVerilogSource", false);
  text += fileset("memory", files.memory, "user", true);
  std::vector<std::string> bench, data;
  for (const std::string& file : files.testbench) (file.ends_with(".sv") ? bench : data).push_back(file);
  if (!bench.empty())
    text += fileset("bench", bench, "systemVerilogSource", false) + fileset("data", data, "user", true);
  text +=
      "\nparameters:\n  FOLDER:\n    datatype: str\n    paramtype: vlogparam\n    default: .\n"
      "    description: the folder with memory/\n";
  text += fmt::format(
      "\ntargets:\n  default: &default\n    filesets: [rtl, memory]\n    toplevel: {}\n"
      "    parameters: [FOLDER]\n",
      files.top);
  text += fmt::format(
      "  lint:\n    <<: *default\n    default_tool: verilator\n    tools:\n      verilator:\n"
      "        mode: lint-only\n        verilator_options: [-Wall]\n");
  if (!files.part.empty()) {
    text += fmt::format(
        "  synth:\n    <<: *default\n    default_tool: vivado\n    tools:\n      vivado:\n"
        "        part: {}\n        pnr: none\n",
        files.part);
  }
  if (!bench.empty()) {
    text +=
        "  sim:\n    filesets: [rtl, memory, bench, data]\n    toplevel: testbench\n    parameters: "
        "[FOLDER]\n"
        "    default_tool: icarus\n    tools:\n      icarus:\n        iverilog_options: [-g2012]\n"
        "      verilator:\n        mode: binary\n        verilator_options: [--timing, -Wno-fatal]\n";
  }
  return text;
}

std::string design_registers(const Design& design) { return system_rdl(register_map(design)); }

}  // namespace tilewright::pipeline
