// The constants: offsets of registers, the identity, the layouts of images and results, the model's values.
#include "tilewright/pipeline/emit/host_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/base/error.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

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

// A literal of both languages; names of models may hold anything.
std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : netlist::comment_text(text)) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<uint32_t> identity_words(const Design& design) {
  std::vector<uint32_t> words;
  const MemoryImage& identity = design.images.at("identity.hex");
  for (int word = 0; word < DesignIdentity::kWords; ++word)
    words.push_back(uint32_t(identity.get(word, 0, 32)));
  return words;
}

int fraction_of(const Network& network) {
  return network.number == NumberType::kFixed ? network.fraction : -1;
}

// The fields of a tensor in memory, as both programs have them; `bipolar` in the language's own word.
std::string layout_fields(const DramLayout& t, const char* bipolar) {
  const LayerWindow& w = t.unrolled;
  return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}", t.shape.rows,
                     t.shape.columns, t.shape.channels, t.source.rows, t.source.columns, t.source.channels,
                     t.word_elements, t.element_bits, bipolar, t.bytes, w.rows, w.columns, w.stride_y,
                     w.stride_x, w.top, w.left, w.pad_value);
}

std::string tensor_text(const char* name, const DramLayout& t) {
  return fmt::format("constexpr Tensor {} = {{\n    {}}};\n", name,
                     layout_fields(t, t.bipolar ? "true" : "false"));
}

std::string values_text(const char* name, const std::vector<ModelTensor>& tensors) {
  std::string text = fmt::format("static const std::vector<Values> {} = {{", name);
  for (const ModelTensor& t : tensors) {
    std::string digits;
    for (const ElementDigit& digit : t.places.digits) {
      digits += fmt::format("{}{{{}, {}}}", digits.empty() ? "" : ", ", digit.size, digit.step);
    }
    text +=
        fmt::format("\n    {{{}, {}, {}, {{{}}}, {:.9e}f, {}, {}, {}, {{{}}}, {}, {}, {}, {}}},",
                    literal(t.name), t.elements(), t.places.first, digits, t.scale, t.zero_point, t.low,
                    t.high, fmt::join(t.exponentials, ", "), t.numerator, t.shift, t.softmax_zero, t.softmax);
  }
  return text + "};\n";
}

std::string constants(const Design& design, const Network& network, const ModelValues& values) {
  std::string text = "// Offsets of registers.\n";
  for (const DeviceRegister& own : kRegisters) {
    const std::string name = constant_name(own.name);
    // Names that stand for sizes below.
    const bool taken = name == "kIdentity" || name == "kWeightBytes";
    text += fmt::format("constexpr uint32_t {}{} = {:#05x};\n", name, taken ? "At" : "", own.offset);
  }
  text += fmt::format("\n// The design.\nconstexpr uint32_t kIdentity[16] = {{{:#010x}}};\n",
                      fmt::join(identity_words(design), ", "));
  text += fmt::format("constexpr size_t kPortBytes = {}, kChannels = {}, kWeightBytes = {};\n",
                      design.port_bytes, design.channels, design.weight_bytes_per_channel);
  text += fmt::format("constexpr bool kStreaming = {};\n", design.streaming);
  text += tensor_text("kInput", design.input) + tensor_text("kOutput", design.output);
  text += fmt::format(
      "\n// The model; its parts that this program does not compute.\nconstexpr int kFraction = {};\n",
      fraction_of(network));
  text += values_text("kInputs", values.inputs) + values_text("kOutputs", values.outputs);
  text += fmt::format("constexpr const char* kMissing = {};\n\n", literal(values.missing));
  text += "#define TILEWRIGHT_READ_PORTS(port)";
  for (int64_t c = 0; c < design.channels; ++c) text += fmt::format(" port({})", c);
  return text + "\n";
}

std::string python_tuple(const std::vector<std::string>& parts) {
  return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
}

template <typename T>
std::string python_numbers(const std::vector<T>& numbers) {
  std::vector<std::string> parts;
  for (const T number : numbers) parts.push_back(fmt::format("{}", number));
  return python_tuple(parts);
}

std::string python_tensors(const char* name, const std::vector<ModelTensor>& tensors) {
  std::string text = fmt::format("{} = (\n", name);
  for (const ModelTensor& t : tensors) {
    std::vector<std::string> digits;
    for (const ElementDigit& digit : t.places.digits)
      digits.push_back(fmt::format("({}, {})", digit.size, digit.step));
    text += fmt::format("    Tensor({}, {}, {}, {}, {:.9e}, {}, {}, {}, {}, {}, {}, {}, {}),\n",
                        literal(t.name), python_numbers(t.shape), t.places.first, python_tuple(digits),
                        t.scale, t.zero_point, t.low, t.high, python_numbers(t.exponentials), t.numerator,
                        t.shift, t.softmax_zero, t.softmax ? "True" : "False");
  }
  return text + ")\n";
}

std::string python_constants(const Design& design, const Network& network, const ModelValues& values,
                             const std::string& ip) {
  std::string text = "REGISTERS = {\n";
  for (const DeviceRegister& own : kRegisters)
    text += fmt::format("    \"{}\": {:#05x},\n", own.name, own.offset);
  text += fmt::format("}}\nIDENTITY = ({:#010x})\n", fmt::join(identity_words(design), ", "));
  text += fmt::format("CHANNELS, WEIGHT_BYTES, STREAMING = {}, {}, {}\n", design.channels,
                      design.weight_bytes_per_channel, design.streaming ? "True" : "False");
  text += fmt::format("VLNV = \"{}\"  # of the design in a block design\n", ip);
  for (const auto& [name, layout] : {std::pair{"IMAGE", &design.input}, {"RESULT", &design.output}}) {
    text +=
        fmt::format("{} = Layout({})\n", name, layout_fields(*layout, layout->bipolar ? "True" : "False"));
  }
  text += fmt::format("FRACTION = {}  # of fixed point; -1: integers\n", fraction_of(network));
  text += python_tensors("INPUTS", values.inputs) + python_tensors("OUTPUTS", values.outputs);
  return text + fmt::format("MISSING = {}  # what the model has besides\n", literal(values.missing));
}

}  // namespace

std::string with_constants(const std::string& text, const std::string& mark, const std::string& constants,
                           const std::string& file) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' has no place for the design's constants", file),
                fmt::format("take rtl/delivery/{} of Tilewright", file));
  }
  return text.substr(0, at) + constants + text.substr(at + mark.size());
}

std::string host_program(const Design& design, const Network& network, const ModelValues& values,
                         const std::string& text) {
  return with_constants(text, "// @design@\n", constants(design, network, values), "host.cpp");
}

std::string python_driver(const Design& design, const Network& network, const ModelValues& values,
                          const std::string& ip, const std::string& text) {
  return with_constants(text, "# @design@\n", python_constants(design, network, values, ip), "driver.py");
}

}  // namespace tilewright::pipeline
