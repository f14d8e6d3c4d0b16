// The constants: offsets of registers, the identity, the layouts of images and results.
#include "tilewright/pipeline/emit/host_program.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

constexpr const char* kMark = "// @design@\n";

// "INPUT_LO" -> "kInputLo".
std::string constant_name(const std::string& register_name) {
  std::string name = "k";
  bool upper = true;
  for (const char c : register_name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper || c < 'A' ? c : char(c - 'A' + 'a');
    upper = false;
  }
  return name;
}

std::string tensor_text(const char* name, const DramLayout& t) {
  const LayerWindow& w = t.unrolled;
  return fmt::format(
      "constexpr Tensor {} = {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {},\n                           {}, {}, "
      "{}, "
      "{}, {}, {}, {}}};\n",
      name, t.shape.rows, t.shape.columns, t.shape.channels, t.source.rows, t.source.columns,
      t.source.channels, t.word_elements, t.element_bits, t.bipolar, t.bytes, w.rows, w.columns, w.stride_y,
      w.stride_x, w.top, w.left, w.pad_value);
}

std::string constants(const Design& design) {
  std::string text = "// Offsets of registers.\n";
  for (const DeviceRegister& own : kRegisters) {
    const std::string name = constant_name(own.name);
    // Names that stand for sizes below.
    const bool taken = name == "kIdentity" || name == "kWeightBytes";
    text += fmt::format("constexpr uint32_t {}{} = {:#05x};\n", name, taken ? "At" : "", own.offset);
  }
  text += "\n// The design.\nconstexpr uint32_t kIdentity[16] = {";
  const MemoryImage& identity = design.images.at("identity.hex");
  for (int word = 0; word < DesignIdentity::kWords; ++word) {
    text += fmt::format("{}{:#010x}", word == 0 ? "" : ", ", identity.get(word, 0, 32));
  }
  text += "};\n";
  text += fmt::format("constexpr size_t kPortBytes = {}, kChannels = {}, kWeightBytes = {};\n",
                      design.port_bytes, design.channels, design.weight_bytes_per_channel);
  text += fmt::format("constexpr bool kStreaming = {};\n", design.streaming);
  text += tensor_text("kInput", design.input) + tensor_text("kOutput", design.output);
  text += "#define TILEWRIGHT_READ_PORTS(port)";
  for (int64_t c = 0; c < design.channels; ++c) text += fmt::format(" port({})", c);
  return text + "\n";
}

}  // namespace

std::string host_program(const Design& design, const std::string& text) {
  const size_t mark = text.find(kMark);
  if (mark == std::string::npos) {
    throw Error(ErrorKind::kInvalidInput, "the host program has no place for the design's constants",
                "take rtl/delivery/host.cpp of Tilewright");
  }
  return text.substr(0, mark) + constants(design) + text.substr(mark + std::string(kMark).size());
}

}  // namespace tilewright::pipeline
