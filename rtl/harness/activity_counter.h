// Counts what switches in a Verilated model: a file that Verilator writes its value changes to as VCD text
// and that keeps sums instead of the text.
//
// A memory is a scope with a signal write_enable or read_enable (overlay: wr_enable, rd_enable) and the data
// of that port: *_data, or out_data for a memory of constants. It is accessed in every cycle in which the
// enable is high; a memory that has read_data without read_enable is read in every cycle. A scope that holds
// memories is none itself. Scopes whose name ends in _rules check the design; they do not count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "activity_pins.h"
#include "verilated.h"
#include "verilated_vcd_c.h"

namespace {

class ActivityCounter final : public VerilatedVcdFile {
 public:
  bool open(const std::string&) override { return true; }
  void close() override {}
  ssize_t write(const char* text, ssize_t length) override {
    // Lines may be cut anywhere.
    std::string_view rest(text, size_t(length));
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      if (end == rest.npos) {
        line_ += rest;
        break;
      }
      if (line_.empty()) {
        read(rest.substr(0, end));
      } else {
        line_ += rest.substr(0, end);
        read(line_);
        line_.clear();
      }
      rest.remove_prefix(end + 1);
    }
    return length;
  }

  const std::vector<ScopeActivity>& scopes() const { return scopes_; }

 private:
  static constexpr size_t kNone = ~size_t{0};

  struct Signal {
    size_t scope = kNone;
    int depth = 0;
    uint64_t bits = 0;
    bool known = false, counted = true;
    std::vector<uint64_t> words;  // lowest first
  };
  struct Port {
    size_t scope, enable;
    uint64_t bits;
  };
  struct Name {
    std::string name;
    size_t signal;
  };

  static std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
  }

  // Verilator's codes are numbers, the lowest digit first, of 94 digits without a zero.
  static size_t code_number(std::string_view code) {
    size_t number = 0;
    for (size_t i = code.size(); i-- > 0;) number = number * 94 + size_t(code[i] - 32);
    return number;
  }

  void read(std::string_view line) {
    if (line.empty()) return;
    if (!declared_) return declare(line);
    if (line[0] == '#') {
      // Times are half cycles. The clock rises in odd ones: memories see their ports as they were before.
      if ((line.back() - '0') % 2 == 1) access_memories();
      return;
    }
    if (line[0] == 'b') {
      const size_t space = line.find(' ');
      if (space != line.npos) change(line.substr(1, space - 1), code_number(line.substr(space + 1)));
    } else if (line[0] == '0' || line[0] == '1') {
      change(line.substr(0, 1), code_number(line.substr(1)));
    }
  }

  void declare(std::string_view line) {
    const std::string_view word = next_word(line);
    if (word == "$scope") {
      next_word(line);
      const std::string_view name = next_word(line);
      constexpr std::string_view kCheck = "_rules";
      const bool check = name.size() > kCheck.size() && name.substr(name.size() - kCheck.size()) == kCheck;
      check_depth_ += check || check_depth_ > 0 ? 1 : 0;
      std::string path = stack_.empty() ? std::string() : paths_[stack_.back()] + ".";
      path += name;
      stack_.push_back(paths_.size());
      paths_.push_back(std::move(path));
      names_.emplace_back();
      holds_memory_.push_back(false);
    } else if (word == "$upscope") {
      const bool memory = holds_memory_[stack_.back()] || find_ports(stack_.back());
      stack_.pop_back();
      if (memory && !stack_.empty()) holds_memory_[stack_.back()] = true;
      check_depth_ -= check_depth_ > 0 ? 1 : 0;
    } else if (word == "$var") {
      next_word(line);
      const uint64_t bits = std::stoull(std::string(next_word(line)));
      const size_t number = code_number(next_word(line));
      declare_signal(number, bits, std::string(next_word(line)));
    } else if (word == "$enddefinitions") {
      scopes_.reserve(paths_.size());
      for (const std::string& path : paths_) scopes_.push_back({path.c_str(), 0, 0});
      declared_ = true;
    }
  }

  void declare_signal(size_t number, uint64_t bits, std::string name) {
    if (number >= signals_.size()) signals_.resize(number + 1);
    Signal& signal = signals_[number];
    signal.bits = bits;
    signal.words.assign((bits + 63) / 64, 0);
    if (check_depth_ > 0) return;
    if (signal.scope == kNone || int(stack_.size()) > signal.depth) {
      signal.scope = stack_.back();
      signal.depth = int(stack_.size());
    }
    if (name == "clk") signal.counted = false;
    names_[stack_.back()].push_back({std::move(name), number});
  }

  // False: the scope is no memory.
  bool find_ports(size_t scope) {
    const auto find = [&](const char* name) {
      for (const Name& n : names_[scope])
        if (n.name == name) return n.signal;
      return kNone;
    };
    const auto add = [&](size_t enable, size_t data) {
      if (data != kNone) ports_.push_back({scope, enable, signals_[data].bits});
    };
    const size_t write = find("write_enable"), wr = find("wr_enable");
    const size_t read = find("read_enable"), rd = find("rd_enable");
    if (write != kNone) add(write, find("write_data"));
    if (wr != kNone) add(wr, find("wr_data"));
    if (read != kNone) add(read, find("read_data") != kNone ? find("read_data") : find("out_data"));
    if (rd != kNone) add(rd, find("rd_data"));
    if (write != kNone && read == kNone) add(kNone, find("read_data"));
    return !ports_.empty() && ports_.back().scope == scope;
  }

  void access_memories() {
    for (const Port& port : ports_) {
      if (port.enable != kNone && (signals_[port.enable].words[0] & 1) == 0) continue;
      scopes_[port.scope].memory_bits += port.bits;
    }
  }

  void change(std::string_view digits, size_t number) {
    Signal& signal = signals_[number];
    uint64_t toggled = 0;
    size_t end = digits.size();
    for (uint64_t& word : signal.words) {
      const size_t count = std::min<size_t>(end, 64);
      uint64_t value = 0;
      for (size_t i = end - count; i < end; ++i) value = value << 1 | uint64_t(digits[i] == '1');
      end -= count;
      toggled += uint64_t(__builtin_popcountll(word ^ value));
      word = value;
    }
    if (signal.known && signal.counted && signal.scope != kNone)
      scopes_[signal.scope].toggled_bits += toggled;
    signal.known = true;
  }

  bool declared_ = false;
  int check_depth_ = 0;  // of scopes in one that checks, itself included
  std::string line_;
  std::vector<size_t> stack_;
  std::vector<std::string> paths_;
  std::vector<std::vector<Name>> names_;  // by scope
  std::vector<bool> holds_memory_;        // by scope: one inside it is a memory
  std::vector<Signal> signals_;           // by number
  std::vector<Port> ports_;
  std::vector<ScopeActivity> scopes_;
};

}  // namespace
