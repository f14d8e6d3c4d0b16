// The YAML form of an array description, fields at their defaults left out.
#include <fmt/format.h>

#include "tilewright/base/yaml.h"
#include "tilewright/hardware/array_hardware.h"

namespace tilewright {
namespace {

std::string role_words(uint32_t roles) {
  std::string text;
  for (int role = 0; role < kDataRoles; ++role) {
    if (roles >> role & 1u) text += (text.empty() ? "" : " ") + std::string(kDataRoleNames[size_t(role)]);
  }
  return text.empty() ? "\"\"" : text;
}

std::string words(int64_t count) { return count == kUnlimitedWords ? "unlimited" : fmt::format("{}", count); }

// "{a: 1, b: 2}" from the fields that were added; "" without any.
class FlowMap {
 public:
  template <typename Value>
  void add(const char* key, const Value& value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", key, value);
  }
  std::string line(const char* key) const {
    return text_.empty() ? "" : fmt::format("  {}: {{{}}}\n", key, text_);
  }
  std::string braces() const { return "{" + text_ + "}"; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string print_network(const ArrayNetwork& network) {
  FlowMap map;
  if (!network.multicast) map.add("multicast", false);
  if (!network.reduction) map.add("reduction", false);
  if (network.delivery_energy != 0) map.add("delivery_energy", network.delivery_energy);
  if (network.hop_energy != 0) map.add("hop_energy", network.hop_energy);
  FlowMap widths;
  for (size_t role = 0; role < kDataRoles; ++role) {
    if (network.words_per_cycle[role] != 0) widths.add(kDataRoleNames[role], network.words_per_cycle[role]);
  }
  if (!widths.empty()) map.add("words_per_cycle", widths.braces());
  return map.line("network");
}

std::string print_level(const ArrayLevel& level) {
  std::string text = fmt::format("- name: {}\n", yaml_quoted(level.name));
  text += fmt::format("  capacity_words: {}\n", words(level.capacity_words));
  FlowMap reserved;
  uint32_t roomy = 0;
  for (size_t role = 0; role < kDataRoles; ++role) {
    const int64_t own = level.role_capacity_words[role];
    if (own != kUnlimitedWords) reserved.add(kDataRoleNames[role], own);
    if ((own == kUnlimitedWords ? level.capacity_words : own) != 0) roomy |= 1u << role;
  }
  text += reserved.line("role_capacity_words");
  if (level.may_keep != roomy) text += fmt::format("  may_keep: {}\n", role_words(level.may_keep));
  if (level.must_keep != 0) text += fmt::format("  must_keep: {}\n", role_words(level.must_keep));
  if (level.copies != 1) text += fmt::format("  copies: {}\n", level.copies);
  if (!level.overlaps_transfers) text += "  overlaps_transfers: false\n";
  text += fmt::format("  energy: {{read: {}, fill: {}, update: {}}}\n", level.read_energy, level.fill_energy,
                      level.update_energy);
  if (level.area_um2 != 0) text += fmt::format("  area_um2: {}\n", level.area_um2);
  FlowMap ports;
  if (level.read_words_per_cycle != 0) ports.add("read", level.read_words_per_cycle);
  if (level.write_words_per_cycle != 0) ports.add("write", level.write_words_per_cycle);
  text += ports.line("bandwidth");
  if (level.fanout_x != 1 || level.fanout_y != 1) {
    text += fmt::format("  fanout: {{x: {}, y: {}}}\n", level.fanout_x, level.fanout_y);
  }
  return text + print_network(level.network);
}

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

std::string print_array_hardware(const ArrayHardware& h) {
  std::string text = fmt::format("kind: array\nname: {}\nenergy_unit: {}\nword_bits: {}\n",
                                 yaml_quoted(h.name), yaml_quoted(h.energy_unit), h.word_bits);
  if (h.clock_mhz != 0) text += fmt::format("clock_mhz: {}\n", h.clock_mhz);
  text += fmt::format("arithmetic: {{energy: {}, area_um2: {}}}\n", h.mac_energy, h.mac_area_um2);
  text += "levels:\n";
  for (const ArrayLevel& level : h.levels) text += print_level(level);
  for (const auto& [name, section] : h.sections) {
    text += fmt::format("{}:\n{}\n", name, indented(section));
  }
  return text;
}

}  // namespace tilewright
