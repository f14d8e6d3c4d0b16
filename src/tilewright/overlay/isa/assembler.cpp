// Both directions walk the same table of operands: a key, its bit fields, and the value they have
// when the text does not mention them.
#include "tilewright/overlay/isa/assembler.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "tilewright/base/words/nearest_word.h"

namespace tilewright::overlay {
namespace {

struct Operand {
  std::string_view key;
  std::vector<BitField> fields;
  int64_t fallback = 0;
  bool is_signed = false;
  std::string_view separator = ",";
};

struct Flag {
  std::string_view key;
  BitField field;
};

// The operands of one kind of line.
struct Form {
  std::vector<Operand> operands;
  std::vector<Flag> flags;
};

class Forms {
 public:
  explicit Forms(const IsaLayout& layout) : layout_(layout) {
    const std::vector<Flag> tokens{{"pop_prev", layout.pop_prev},
                                   {"pop_next", layout.pop_next},
                                   {"push_prev", layout.push_prev},
                                   {"push_next", layout.push_next}};
    const IsaLayout::Memory& m = layout.memory;
    memory_.operands = {{"sram", {m.sram_base}},  {"dram", {m.dram_base}},
                        {"rows", {m.y_size}},     {"columns", {m.x_size}},
                        {"stride", {m.x_stride}}, {"pad", {m.y_pad_0, m.y_pad_1, m.x_pad_0, m.x_pad_1}}};
    if (layout.wide) memory_.operands.push_back({"pad_value", {m.pad_value}, 0, true});
    gemm_.operands = loop_operands(layout.gemm);
    gemm_.operands.push_back({"wgt", {layout.gemm.wgt_factor_out, layout.gemm.wgt_factor_in}});
    gemm_.flags = {{"reset", layout.gemm.reset}};
    if (layout.wide) {
      gemm_.flags.push_back({"bipolar", layout.bipolar});
      gemm_.flags.push_back({"beside_alu", layout.beside_alu});
    }
    alu_.operands = loop_operands(layout.alu);
    alu_.operands.insert(alu_.operands.begin(), Operand{"imm", {layout.imm}, 0, true});
    if (layout.wide) {
      alu_.operands.insert(alu_.operands.begin() + 1,
                           Operand{"clip", {layout.clip_low, layout.clip_high}, 0, true});
    }
    alu_.flags = {{"reset", layout.alu.reset}, {"use_imm", layout.use_imm}};
    for (Form* form : {&memory_, &gemm_, &alu_, &finish_}) {
      form->flags.insert(form->flags.end(), tokens.begin(), tokens.end());
    }
    uop_.operands = {{"dst", {layout.uop.dst}}, {"src", {layout.uop.src}}, {"wgt", {layout.uop.wgt}}};
    if (layout.wide) uop_.flags = {{"overwrite", layout.uop.overwrite}};
  }

  const Form& uop() const { return uop_; }

  // The mnemonic of an instruction, nothing where its codes are unknown.
  std::optional<std::string> mnemonic(const uint64_t* words) const {
    const MemoryType type = layout_.memory_type(words);
    const uint64_t operation = layout_.alu_opcode.get(words);
    switch (IsaOpcode(layout_.opcode.get(words))) {
      case IsaOpcode::kLoad:
      case IsaOpcode::kStore:
        if (!layout_.knows(type)) return {};
        return std::string(layout_.opcode.get(words) == 0 ? "load." : "store.") + memory_type_name(type);
      case IsaOpcode::kGemm:
        return "gemm";
      case IsaOpcode::kAlu:
        if (operation > last_operation()) return {};
        return std::string("alu.") + alu_opcode_name(AluOpcode(operation));
      case IsaOpcode::kFinish:
        return "finish";
    }
    return {};
  }

  // Puts the codes of `mnemonic` into `words` (zero before) and returns its form; null when there is no such.
  const Form* start(std::string_view mnemonic, uint64_t* words) const {
    layout_.version.put(words, 1);
    for (const bool store : {false, true}) {
      for (const MemoryType type : kMemoryTypes) {
        if (!layout_.knows(type)) continue;
        if (mnemonic != std::string(store ? "store." : "load.") + memory_type_name(type)) continue;
        layout_.opcode.put(words, uint64_t(store ? IsaOpcode::kStore : IsaOpcode::kLoad));
        layout_.memory.memory_type.put(words, uint64_t(type));
        layout_.memory.form.put(words, uint64_t(type) >> 3);
        return &memory_;
      }
    }
    for (uint64_t operation = 0; operation <= last_operation(); ++operation) {
      if (mnemonic != std::string("alu.") + alu_opcode_name(AluOpcode(operation))) continue;
      layout_.opcode.put(words, uint64_t(IsaOpcode::kAlu));
      layout_.alu_opcode.put(words, operation);
      return &alu_;
    }
    if (mnemonic == "gemm") {
      layout_.opcode.put(words, uint64_t(IsaOpcode::kGemm));
      return &gemm_;
    }
    if (mnemonic == "finish") {
      layout_.opcode.put(words, uint64_t(IsaOpcode::kFinish));
      return &finish_;
    }
    return nullptr;
  }

 private:
  uint64_t last_operation() const { return uint64_t(layout_.last_alu_opcode()); }
  static std::vector<Operand> loop_operands(const IsaLayout::Loop& l) {
    return {{"uops", {l.uop_begin, l.uop_end}, 0, false, ".."},
            {"loop", {l.iter_out, l.iter_in}, 1},
            {"dst", {l.dst_factor_out, l.dst_factor_in}},
            {"src", {l.src_factor_out, l.src_factor_in}}};
  }

  const IsaLayout& layout_;
  Form memory_, gemm_, alu_, finish_, uop_;
};

int64_t value_of(const Operand& operand, const BitField& field, const uint64_t* words) {
  return operand.is_signed ? field.get_signed(words) : int64_t(field.get(words));
}

// "key=value ... flag ..." of what differs from the defaults; clears the fields it has seen in `rest`.
std::string print_form(const Form& form, const uint64_t* words, uint64_t* rest) {
  std::string text;
  for (const Operand& operand : form.operands) {
    bool mentioned = false;
    std::string values;
    for (const BitField& field : operand.fields) {
      const int64_t value = value_of(operand, field, words);
      mentioned |= value != operand.fallback;
      if (!values.empty()) values += operand.separator;
      values += std::to_string(value);
      rest[field.word] &= ~(field.mask() << field.shift);
    }
    if (mentioned) text += " " + std::string(operand.key) + "=" + values;
  }
  for (const Flag& flag : form.flags) {
    if (flag.field.get(words) != 0) text += " " + std::string(flag.key);
    rest[flag.field.word] &= ~(flag.field.mask() << flag.field.shift);
  }
  return text;
}

std::string hexadecimal(uint64_t value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

std::string print_instruction(const IsaLayout& layout, const Forms& forms, const uint64_t* words) {
  const std::optional<std::string> mnemonic = forms.mnemonic(words);
  uint64_t codes[IsaLayout::kMaxWords] = {}, rest[IsaLayout::kMaxWords];
  std::copy(words, words + layout.words, rest);
  if (mnemonic) {
    const Form* form = forms.start(*mnemonic, codes);
    const std::string text = *mnemonic + print_form(*form, words, rest);
    // What is left must be exactly the codes, or the text would lose bits.
    if (std::equal(rest, rest + layout.words, codes)) return text;
  }
  std::string text = "raw";
  for (int w = 0; w < layout.words; ++w) text += " " + hexadecimal(words[w]);
  return text;
}

std::string print_uop(const Forms& forms, uint64_t word) {
  uint64_t rest = word;
  std::string text = print_form(forms.uop(), &word, &rest);
  if (rest != 0) return "raw " + hexadecimal(word);
  return text.empty() ? "dst=0" : text.substr(1);
}

std::optional<int64_t> parse_number(std::string_view text) {
  bool negative = false;
  if (!text.empty() && text[0] == '-') {
    negative = true;
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  if (base == 10 && value > uint64_t(INT64_MAX)) return {};
  return negative ? int64_t(-value) : int64_t(value);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::vector<std::string_view> tokens_of(std::string_view line) {
  line = line.substr(0, line.find(';'));
  std::vector<std::string_view> tokens;
  constexpr std::string_view kSpace = " \t\r";
  for (size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    tokens.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return tokens;
}

// One line being assembled; problems go to the diagnostics with its number.
class Line {
 public:
  Line(const std::string& where, Diagnostics& diagnostics) : where_(where), diagnostics_(diagnostics) {}

  void problem(std::string_view op, const std::string& message, const std::string& hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, where_, std::string(op.substr(0, 40)), message, hint);
  }

  void parse_raw(std::span<const std::string_view> values, uint64_t* words, size_t count, uint64_t largest) {
    if (values.size() != count) {
      return problem("raw", std::to_string(values.size()) + " words are given, " + std::to_string(count) +
                                " are needed");
    }
    for (size_t i = 0; i < count; ++i) {
      const std::optional<int64_t> value = parse_number(values[i]);
      if (!value || uint64_t(*value) > largest) {
        problem("raw", "'" + std::string(values[i].substr(0, 40)) + "' is not a word",
                "write 0x and hexadecimal digits");
      } else {
        words[i] = uint64_t(*value);
      }
    }
  }

  void parse_form(const Form& form, std::span<const std::string_view> tokens, uint64_t* words) {
    std::set<std::string_view> seen;
    for (const std::string_view token : tokens) {
      const size_t equals = token.find('=');
      const std::string_view key = token.substr(0, equals);
      if (!seen.insert(key).second) {
        problem(key, "is given twice");
      } else if (equals == std::string_view::npos) {
        parse_flag(form, key, words);
      } else {
        parse_operand(form, key, token.substr(equals + 1), words);
      }
    }
    for (const Operand& operand : form.operands) {
      if (operand.fallback == 0 || seen.count(operand.key) != 0) continue;
      for (const BitField& field : operand.fields) field.put(words, uint64_t(operand.fallback));
    }
  }

 private:
  void parse_flag(const Form& form, std::string_view key, uint64_t* words) {
    for (const Flag& flag : form.flags) {
      if (flag.key == key) return flag.field.put(words, 1);
    }
    unknown(form, key);
  }

  void parse_operand(const Form& form, std::string_view key, std::string_view text, uint64_t* words) {
    const auto operand = std::find_if(form.operands.begin(), form.operands.end(),
                                      [&](const Operand& o) { return o.key == key; });
    if (operand == form.operands.end()) return unknown(form, key);
    const std::vector<std::string_view> values = split(text, operand->separator);
    if (values.size() != operand->fields.size()) {
      return problem(key, "has " + std::to_string(values.size()) + " values, " +
                              std::to_string(operand->fields.size()) + " separated by '" +
                              std::string(operand->separator) + "' are needed");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const BitField& field = operand->fields[i];
      const std::optional<int64_t> value = parse_number(values[i]);
      const int64_t span = int64_t{1} << field.width;
      const int64_t low = operand->is_signed ? -span / 2 : 0,
                    high = operand->is_signed ? span / 2 - 1 : span - 1;
      if (!value) {
        problem(key, "'" + std::string(values[i].substr(0, 40)) + "' is not a number");
      } else if (*value < low || *value > high) {
        problem(key, std::to_string(*value) + " is outside of " + std::to_string(low) + ".." +
                         std::to_string(high));
      } else {
        field.put(words, uint64_t(*value));
      }
    }
  }

  void unknown(const Form& form, std::string_view key) {
    std::vector<std::string> known;
    for (const Operand& operand : form.operands) known.emplace_back(operand.key);
    for (const Flag& flag : form.flags) known.emplace_back(flag.key);
    problem(key, "unknown field", words_hint(std::string(key), known, "known here"));
  }

  const std::string& where_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::string disassemble_instruction(const IsaLayout& layout, const uint64_t* words) {
  return print_instruction(layout, Forms(layout), words);
}

std::string disassemble(const OverlayHardware& hardware, std::span<const std::byte> instructions,
                        std::span<const std::byte> uops) {
  const IsaLayout layout(hardware);
  const Forms forms(layout);
  const size_t size = size_t(hardware.instruction_bytes()), uop_size = size_t(hardware.uop_bytes());
  if (instructions.size() % size != 0 || uops.size() % uop_size != 0) {
    throw Error(ErrorKind::kInvalidInput, std::to_string(instructions.size()) +
                                              " bytes of instructions and " + std::to_string(uops.size()) +
                                              " of micro-ops are not multiples of " + std::to_string(size) +
                                              " and " + std::to_string(uop_size));
  }
  std::string text;
  if (!uops.empty()) text += ".uops\n";
  for (size_t i = 0; i < uops.size() / uop_size; ++i) {
    text += "  " + print_uop(forms, read_little_endian(&uops[i * uop_size], int(uop_size))) + "  ; " +
            std::to_string(i) + "\n";
  }
  text += ".instructions\n";
  for (size_t i = 0; i < instructions.size() / size; ++i) {
    uint64_t words[IsaLayout::kMaxWords] = {};
    for (int w = 0; w < layout.words; ++w)
      words[w] = read_little_endian(&instructions[i * size + 8 * size_t(w)], 8);
    text += "  " + print_instruction(layout, forms, words) + "  ; " + std::to_string(i) + "\n";
  }
  return text;
}

AssembledProgram assemble(const OverlayHardware& hardware, const std::string& text,
                          const std::string& source_name) {
  const IsaLayout layout(hardware);
  const Forms forms(layout);
  AssembledProgram program;
  Diagnostics diagnostics;
  enum class Section { kNone, kUops, kInstructions } section = Section::kNone;
  int number = 0;
  for (const std::string_view line_text : split(text, "\n")) {
    const std::string where = source_name + ":" + std::to_string(++number);
    Line line(where, diagnostics);
    const std::vector<std::string_view> tokens = tokens_of(line_text);
    if (tokens.empty()) continue;
    const std::span<const std::string_view> rest = std::span(tokens).subspan(1);
    if (tokens[0][0] == '.') {
      const bool uops = tokens[0] == ".uops";
      if ((!uops && tokens[0] != ".instructions") || !rest.empty()) {
        line.problem(tokens[0], "unknown section", "write '.uops' or '.instructions' on a line of its own");
      }
      section = uops ? Section::kUops : Section::kInstructions;
    } else if (section == Section::kNone) {
      line.problem(tokens[0], "stands before the first section", "start with '.uops' or '.instructions'");
    } else if (section == Section::kUops) {
      uint64_t word = 0;
      if (tokens[0] == "raw") {
        line.parse_raw(rest, &word, 1, hardware.uop_bytes() == 4 ? UINT32_MAX : UINT64_MAX);
      } else {
        line.parse_form(forms.uop(), tokens, &word);
      }
      append_little_endian(program.uops, word, int(hardware.uop_bytes()));
    } else {
      uint64_t words[IsaLayout::kMaxWords] = {};
      if (tokens[0] == "raw") {
        line.parse_raw(rest, words, size_t(layout.words), UINT64_MAX);
      } else if (const Form* form = forms.start(tokens[0], words)) {
        line.parse_form(*form, rest, words);
      } else {
        line.problem(tokens[0], "unknown instruction",
                     "load.MEMORY, store.out, gemm, alu.OPERATION, finish or raw are known");
      }
      for (int w = 0; w < layout.words; ++w) append_little_endian(program.instructions, words[w], 8);
    }
  }
  diagnostics.raise_if_any();
  return program;
}

}  // namespace tilewright::overlay
