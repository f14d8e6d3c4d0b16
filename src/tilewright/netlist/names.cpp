// Two passes: names that need no change are given away first, so that a changed one never displaces them.
#include "tilewright/netlist/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tilewright::netlist {
namespace {

constexpr std::string_view kReserved[] = {
    // IEEE 1364 and 1800.
    "accept_on", "alias", "always", "always_comb", "always_ff", "always_latch", "and", "assert", "assign",
    "assume", "automatic", "before", "begin", "bind", "bins", "binsof", "bit", "break", "buf", "bufif0",
    "bufif1", "byte", "case", "casex", "casez", "cell", "chandle", "checker", "class", "clocking", "cmos",
    "config", "const", "constraint", "context", "continue", "cover", "covergroup", "coverpoint", "cross",
    "deassign", "default", "defparam", "design", "disable", "dist", "do", "edge", "else", "end", "endcase",
    "endchecker", "endclass", "endclocking", "endconfig", "endfunction", "endgenerate", "endgroup",
    "endinterface", "endmodule", "endpackage", "endprimitive", "endprogram", "endproperty", "endsequence",
    "endspecify", "endtable", "endtask", "enum", "event", "eventually", "expect", "export", "extends",
    "extern", "final", "first_match", "for", "force", "foreach", "forever", "fork", "forkjoin", "function",
    "generate", "genvar", "global", "highz0", "highz1", "if", "iff", "ifnone", "ignore_bins", "illegal_bins",
    "implements", "implies", "import", "incdir", "include", "initial", "inout", "input", "inside", "instance",
    "int", "integer", "interconnect", "interface", "intersect", "join", "join_any", "join_none", "large",
    "let", "liblist", "library", "local", "localparam", "logic", "longint", "macromodule", "matches",
    "medium", "modport", "module", "nand", "negedge", "nettype", "new", "nexttime", "nmos", "nor",
    "noshowcancelled", "not", "notif0", "notif1", "null", "or", "output", "package", "packed", "parameter",
    "pmos", "posedge", "primitive", "priority", "program", "property", "protected", "pull0", "pull1",
    "pulldown", "pullup", "pulsestyle_ondetect", "pulsestyle_onevent", "pure", "rand", "randc", "randcase",
    "randsequence", "rcmos", "real", "realtime", "ref", "reg", "reject_on", "release", "repeat", "restrict",
    "return", "rnmos", "rpmos", "rtran", "rtranif0", "rtranif1", "s_always", "s_eventually", "s_nexttime",
    "s_until", "s_until_with", "scalared", "sequence", "shortint", "shortreal", "showcancelled", "signed",
    "small", "soft", "solve", "specify", "specparam", "static", "string", "strong", "strong0", "strong1",
    "struct", "super", "supply0", "supply1", "sync_accept_on", "sync_reject_on", "table", "tagged", "task",
    "this", "throughout", "time", "timeprecision", "timeunit", "tran", "tranif0", "tranif1", "tri", "tri0",
    "tri1", "triand", "trior", "trireg", "type", "typedef", "union", "unique", "unique0", "unsigned", "until",
    "until_with", "untyped", "use", "uwire", "var", "vectored", "virtual", "void", "wait", "wait_order",
    "wand", "weak", "weak0", "weak1", "while", "wildcard", "wire", "with", "within", "wor", "xnor", "xor",
    // C++.
    "alignas", "alignof", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "catch", "char", "char16_t",
    "char32_t", "compl", "concept", "const_cast", "constexpr", "decltype", "delete", "double", "dynamic_cast",
    "explicit", "false", "float", "friend", "goto", "inline", "long", "mutable", "namespace", "noexcept",
    "not_eq", "nullptr", "operator", "or_eq", "private", "public", "register", "reinterpret_cast", "requires",
    "short", "sizeof", "static_assert", "static_cast", "switch", "template", "thread_local", "throw", "true",
    "try", "typeid", "typename", "using", "volatile", "wchar_t", "xor_eq"};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

std::string replace_odd(const std::string& name) {
  std::string result;
  for (const char c : name) result += letter(c) || digit(c) ? c : '_';
  if (result.empty() || digit(result[0])) result.insert(0, "n_");
  if (reserved_word(result)) result += '_';
  return result;
}

}  // namespace

bool reserved_word(const std::string& name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

bool legal_identifier(const std::string& name) {
  if (name.empty() || digit(name[0]) || reserved_word(name)) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c); });
}

std::string identifier_part(const std::string& name, size_t longest) {
  std::string result;
  for (const char c : name) {
    const bool kept = (letter(c) && c != '_') || digit(c);
    if (kept) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  result.resize(std::min(result.size(), longest));
  while (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

std::vector<std::string> legal_names(const std::vector<std::string>& names,
                                     const std::set<std::string>& taken) {
  std::vector<std::string> result(names.size());
  std::set<std::string> used = taken;
  for (size_t i = 0; i < names.size(); ++i) {
    if (legal_identifier(names[i]) && used.insert(names[i]).second) result[i] = names[i];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!result[i].empty()) continue;
    const std::string base = replace_odd(names[i]);
    std::string name = base;
    for (int number = 2; !used.insert(name).second; ++number) name = fmt::format("{}_{}", base, number);
    result[i] = name;
  }
  return result;
}

}  // namespace tilewright::netlist
