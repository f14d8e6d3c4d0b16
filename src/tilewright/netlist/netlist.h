// Structural hardware: modules of nets, operators, registers, memories, queues, pipelines, state machines and
// instances, on one clock. It is checked (verifier.h), run on small cases (a test's evaluator) and written as
// Verilog (verilog.h). Everything generated goes through it; nothing is made by pasting strings.
//
// Conventions: every module has the ports `clk` and `rst` (synchronous, active high) without their being
// listed. Nets are unsigned bit vectors; operators say where they read them as signed. A net has one driver:
// an input port, an operator, a register, a memory's read data, a queue, a pipeline, a state machine's output
// or an instance's output.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::netlist {

enum class Direction { kInput, kOutput };

struct Port {
  std::string name;
  Direction direction = Direction::kInput;
  int width = 1;  // bits, at least 1
  bool operator==(const Port&) const = default;
};

using NetId = int32_t;
inline constexpr NetId kNoNet = -1;

struct Net {
  std::string name;  // unique in a module, never empty; printers make it legal Verilog
  int width = 1;
};

// Combinational operators. Widths: kAdd, kSubtract, kAnd, kOr, kXor, kMux operands and result alike;
// kMultiply, signed, operands of any width, result of their sum; comparisons and reductions give one bit.
enum class Operation {
  kConstant,  // `value`, zero-extended
  kNot,
  kAnd,
  kOr,
  kXor,
  kAdd,
  kSubtract,
  kMultiply,
  kEqual,
  kLess,
  kLessSigned,
  kMux,          // operands: select (1 bit), when 1, when 0
  kConcatenate,  // first operand is the highest
  kSlice,        // bits [value, value + width of result) of the operand
  kSignExtend,
  kZeroExtend,
  kReduceAnd,
  kReduceOr,
};

struct Assign {
  NetId result = kNoNet;
  Operation operation = Operation::kConstant;
  std::vector<NetId> operands;
  uint64_t value = 0;
};

struct Register {
  NetId q = kNoNet, d = kNoNet;
  NetId enable = kNoNet;  // kNoNet: always
  uint64_t reset_value = 0;
};

enum class MemoryKind { kRegisters, kLutRam, kBlockRam, kUltraRam };

// One synchronous read port: data is there one cycle after `enable`; during a write to the same word it is
// the old one.
struct ReadPort {
  NetId enable = kNoNet, address = kNoNet, data = kNoNet;
};
struct WritePort {
  NetId enable = kNoNet, address = kNoNet, data = kNoNet;
};

// Word i lies in bank i mod banks (banks is a power of two: the bank is the low bits of the address, never a
// division), each bank with all ports.
struct Memory {
  std::string name;
  int64_t words = 1;
  int width = 1;
  int banks = 1;
  MemoryKind kind = MemoryKind::kBlockRam;
  std::vector<ReadPort> reads;
  std::vector<WritePort> writes;  // at most one for all kinds but kRegisters
  std::string contents;           // file for $readmemh (several banks: its name with .0, .1, ..); empty: zero
};

// A queue with valid/ready on both sides. `ready` is count < depth, `valid` is count > 0, both registered.
struct Fifo {
  std::string name;
  int width = 1;
  int64_t depth = 2;
  NetId in_valid = kNoNet, in_ready = kNoNet, in_data = kNoNet;
  NetId out_valid = kNoNet, out_ready = kNoNet, out_data = kNoNet;
};

// `result` is `input`, `latency` accepted steps later; a step is taken in every cycle with `enable`
// (kNoNet: always), a new input in the first after reset and every `initiation_interval`-th from there; in
// between the last one counts. Zero after reset.
struct Pipeline {
  std::string name;
  int latency = 1, initiation_interval = 1;
  NetId enable = kNoNet, input = kNoNet, result = kNoNet;
};

// Moore machine: in state s `outputs[i]` is `states[s].outputs[i]`; the first transition of s whose condition
// is 1 (kNoNet: always) is taken. State 0 follows reset.
struct StateMachine {
  struct Transition {
    NetId condition = kNoNet;
    int target = 0;
  };
  struct State {
    std::string name;
    std::vector<uint64_t> outputs;
    std::vector<Transition> transitions;
  };
  std::string name;
  std::vector<NetId> outputs;
  std::vector<State> states;
};

// What the module's own parameter `parameter` says, followed by `text`.
struct ParameterText {
  std::string parameter, text;
  bool operator==(const ParameterText&) const = default;
};

using ParameterValue = std::variant<int64_t, std::string, ParameterText>;
using Parameters = std::map<std::string, ParameterValue>;

// An instance of a module of the same design, or of a hand-written component that `Library` knows. Every
// input port must be connected; outputs may be left open. clk and rst are connected by themselves.
struct Instance {
  std::string name;
  std::string module;
  Parameters parameters;
  std::map<std::string, NetId> connections;  // by port name
};

// Where a part of a module begins, for those who read what is printed: a heading of some lines over its nets,
// operators and instances.
struct Section {
  std::vector<std::string> heading;
  size_t nets = 0, assigns = 0, instances = 0;  // that are before it
};

class Module {
 public:
  explicit Module(std::string module_name = {}) : name(std::move(module_name)) {}

  std::string name;
  std::map<std::string, std::string> text_parameters;  // with what they say unless an instance says otherwise
  std::vector<Port> ports;                             // each has the net of its name
  std::vector<Net> nets;
  std::vector<Assign> assigns;
  std::vector<Register> registers;
  std::vector<Memory> memories;
  std::vector<Fifo> fifos;
  std::vector<Pipeline> pipelines;
  std::vector<StateMachine> state_machines;
  std::vector<Instance> instances;
  std::vector<Section> sections;  // in order

  // What is added from here on belongs to a section of this heading.
  void begin_section(std::vector<std::string> heading);
  // A new net; a taken name gets a numeric suffix.
  NetId add_net(const std::string& net_name, int width);
  // A port and its net. Errors (internal): the name is taken.
  NetId add_port(const std::string& port_name, Direction direction, int width);
  NetId net(const std::string& net_name) const;  // kNoNet: none
  // Operators: the result net, named `net_name` (empty: after the operation).
  NetId add_constant(int width, uint64_t value, const std::string& net_name = {});
  NetId add_assign(Operation operation, std::vector<NetId> operands, int width, uint64_t value = 0,
                   const std::string& net_name = {});
  // Drives an output port, or any undriven net, with another net of equal width.
  void connect(NetId target, NetId source);
  Instance& add_instance(const std::string& instance_name, const std::string& module_name,
                         Parameters parameters, std::map<std::string, NetId> connections);
};

struct Netlist {
  std::string top;
  std::vector<Module> modules;  // the top and what it uses
  const Module* module(const std::string& module_name) const;
};

// What the verifier and printers need to know of hand-written components.
class Library {
 public:
  virtual ~Library() = default;
  // The ports of `component` with these parameters, clk and rst left out; false: no such component. Errors
  // (invalid input): parameters that do not fit.
  virtual bool ports(const std::string& component, const Parameters& parameters,
                     std::vector<Port>& result) const = 0;
  // The Verilog module of `component`.
  virtual std::string module_name(const std::string& component) const { return component; }
  // Whether `output` of the component depends on `input` in the same cycle.
  virtual bool combinational(const std::string& component, const Parameters& parameters,
                             const std::string& output, const std::string& input) const {
    static_cast<void>(component), static_cast<void>(parameters);
    static_cast<void>(output), static_cast<void>(input);
    return false;
  }
};

// Typed access; of a ParameterText the text. Errors (internal): absent, other type.
int64_t integer(const Parameters& parameters, const std::string& name);
int64_t integer_or(const Parameters& parameters, const std::string& name, int64_t fallback);
std::string text_or(const Parameters& parameters, const std::string& name, const std::string& fallback);

}  // namespace tilewright::netlist
