// A device's table of registers in the languages of other tools: SystemRDL, and Tcl for AMD's IP packager.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

#include "tilewright/hardware/register_port.h"

namespace tilewright {

struct RegisterMap {
  std::string name;   // an identifier
  std::string title;  // one line
  std::span<const DeviceRegister> registers;
};

namespace register_map_text {

inline std::string rdl_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// In braces, which have to match; texts of tables have none.
inline std::string tcl_text(const std::string& text) {
  std::string plain;
  for (const char c : text) plain += c == '{' || c == '}' || c == '\\' ? '?' : c;
  return "{" + plain + "}";
}

inline bool writable(const DeviceRegister& r) {
  return std::string_view(r.access).find('w') != std::string_view::npos;
}

}  // namespace register_map_text

// An address map of SystemRDL 2.0.
inline std::string system_rdl(const RegisterMap& map) {
  std::string text =
      fmt::format("// {}: SystemRDL 2.0, made by Tilewright.\naddrmap {} {{\n", map.title, map.name);
  text += fmt::format("  name = {};\n  default regwidth = 32;\n  default accesswidth = 32;\n",
                      register_map_text::rdl_text(map.title));
  for (const DeviceRegister& r : map.registers) {
    text += fmt::format("  reg {{\n    desc = {};\n", register_map_text::rdl_text(r.meaning));
    text +=
        fmt::format("    field {{ sw = {}; hw = {}; }} value[31:0];\n",
                    register_map_text::writable(r) ? "rw" : "r", register_map_text::writable(r) ? "rw" : "w");
    const std::string words = r.words == 1 ? "" : fmt::format("[{}]", r.words);
    text += fmt::format("  }} {}{} @ {:#05x};\n", r.name, words, r.offset);
  }
  return text + "};\n";
}

// The elements of a Tcl list, a line each: name, offset, bytes, access, meaning.
inline std::string tcl_registers(const RegisterMap& map) {
  std::string text;
  for (const DeviceRegister& r : map.registers) {
    text += fmt::format("  {{{} {:#05x} {} {} {}}}\n", r.name, r.offset, 4 * r.words,
                        register_map_text::writable(r) ? "read-write" : "read-only",
                        register_map_text::tcl_text(r.meaning));
  }
  return text;
}

}  // namespace tilewright
