// The layouts of all components, in the order of their names, and the table of registers (image/registers.h).
#include "tilewright/pipeline/component/config_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace config_package_text {
namespace {

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(toupper(c)); });
  return text;
}

std::string scaled(const FieldWidth& width) {
  return width.bits == 1 ? std::string(width.times) : fmt::format("{} * {}", width.bits, width.times);
}

std::string number(const std::string& name, int value, const std::string& added) {
  return fmt::format("  localparam int {} = {};{}{}\n", name, value, added.empty() ? "" : "  // +", added);
}

std::string layout_lines(const RowLayout& layout) {
  const std::string prefix = capitals(layout.name) + "_";
  std::string text = fmt::format("\n  // {}\n", layout.name), added;
  int low = 0;
  for (const auto& [name, width] : layout.fields) {
    text += number(fmt::format("{}{}_LSB", prefix, name), low, added);
    const bool parameter = width.times != nullptr && width.bits == 1;
    if (!parameter) text += number(fmt::format("{}{}_WIDTH", prefix, name), width.bits, "");
    if (width.times == nullptr) {
      low += width.bits;
    } else {
      added += (added.empty() ? " " : " + ") + scaled(width);
    }
  }
  return text + number(prefix + "BITS", low, added);
}

std::string word(const std::string& name, int bits, uint32_t value) {
  return fmt::format("  localparam logic [{}:0] {} = {}'h{:0{}x};\n", bits - 1, name, bits, value,
                     (bits + 3) / 4);
}

std::string register_lines() {
  std::string text = "\n  // registers: addresses, what ID and VERSION read, bits of CONTROL and STATUS\n";
  for (const DeviceRegister& r : kRegisters) text += word(fmt::format("REG_{}", r.name), 12, r.offset);
  text += word("VALUE_ID", 32, kPipelineId) + word("VALUE_VERSION", 32, kPipelineVersion);
  for (const auto& [name, mask] : {std::pair{"CONTROL_START", uint32_t{kControlStart}},
                                   {"CONTROL_RUNNING", uint32_t{kControlRunning}},
                                   {"STATUS_DONE", uint32_t{kStatusDone}},
                                   {"STATUS_ERROR", uint32_t{kStatusError}}}) {
    text += number(fmt::format("BIT_{}", name), std::countr_zero(mask), "");
  }
  return text + number("IDENTITY_WORDS", DesignIdentity::kWords, "");
}

std::string package() {
  std::string text = "package component_config;\n";
  for (const ComponentType* const type : component_types()) {
    if (type->layouts == nullptr) continue;
    for (const RowLayout& layout : type->layouts()) text += layout_lines(layout);
  }
  return text + register_lines() + "endpackage\n";
}

size_t name_end(const std::string& text, size_t at) {
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) ++at;
  return at;
}

}  // namespace
}  // namespace config_package_text

std::string layout_text(const RowLayout& layout) {
  std::string text;
  for (const auto& [name, width] : layout.fields) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, width.is_signed ? "s" : "");
    if (width.times == nullptr) {
      text += fmt::format("{}", width.bits);
    } else {
      text += width.bits == 1 ? std::string(width.times) : fmt::format("{}x{}", width.bits, width.times);
    }
  }
  return text;
}

std::string config_package() {
  return "// Written by Tilewright (src/tilewright/pipeline/component/config_package.cpp), the same for "
         "every\n"
         "// design: none uses all of it.\n"
         "// verilator lint_off UNUSEDPARAM\n" +
         config_package_text::package() + "// verilator lint_on UNUSEDPARAM\n";
}

std::string config_package_for(const std::vector<std::string>& sources) {
  const std::string prefix = std::string(kConfigPackage) + "::";
  std::set<std::string> used;
  for (const std::string& source : sources) {
    for (size_t at = source.find(prefix); at != std::string::npos; at = source.find(prefix, at + 1)) {
      const size_t first = at + prefix.size();
      used.insert(source.substr(first, config_package_text::name_end(source, first) - first));
    }
  }
  std::string result =
      "// Where the fields of this design's task tables and registers are (Tilewright,\n"
      "// src/tilewright/pipeline/component/config_package.cpp).\n";
  std::string heading;
  std::istringstream lines(config_package_text::package());
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = "), before = line.rfind(' ', equals - 1);
    if (line.empty() || line.starts_with("  // ")) {
      heading = line.empty() ? "\n" : heading + line + "\n";
    } else if (equals == std::string::npos) {
      result += line + "\n";
    } else if (used.contains(line.substr(before + 1, equals - before - 1))) {
      result += heading + line + "\n";
      heading.clear();
    }
  }
  return result;
}

}  // namespace tilewright::pipeline
