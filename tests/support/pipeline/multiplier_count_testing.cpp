// Yosys writes each module once, with its parameters and the name it has in the source; a walk from the top
// multiplies by instances. Inside a multiplier module `*` are its parts, elsewhere products.
#include "support/pipeline/multiplier_count_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

using nlohmann::json;

// Parameters are written as binary digits.
int integer_of(const json& text) {
  constexpr long long kWidest = 1 << 24;
  const std::string digits = text.get<std::string>();
  const long long value = std::stoll(digits, nullptr, 2);
  if (value < 0 || value > kWidest) throw std::out_of_range("'" + digits + "' is not a width");
  return int(value);
}

[[noreturn]] void fail_form(const std::string& source_name, const std::string& what) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("{}: not a Yosys netlist: {}", source_name, what),
              "Yosys 0.23 is known to work");
}

// Results of fewer bits stay in look-up tables (DSP_Y_MINWIDTH of synth_xilinx).
constexpr int kNarrowestBlockResult = 9;

// The widest first.
using Width = std::tuple<int, int, bool>;  // -a, -b, not in an array
struct Tally {
  int64_t products = 0, operators = 0;
};
using Tallies = std::map<Width, Tally>;

class Walk {
 public:
  explicit Walk(const json& modules) : modules_(modules) {}

  // What one instance of a module holds.
  const Tallies& of(const std::string& name, bool in_array) {
    const auto key = std::make_pair(name, in_array);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (!inside_.insert(key).second) throw std::logic_error("the module " + name + " contains itself");
    const json& module = modules_.at(name);
    const std::string source = source_name(name, module);
    const bool array =
        in_array || source == component_module("dot_product") || source == component_module("lane_sum");
    Tallies tallies;
    int64_t operators = 0;
    const bool packed = source == component_module("multiply_packed");
    const bool pair = source == component_module("multiply_pair");
    const bool product = packed || pair || source == component_module("multiply");
    for (const json& cell : module.at("cells")) {
      const std::string type = cell.at("type").get<std::string>();
      if (type == "$mul") {
        const bool block = integer_of(cell.at("parameters").at("Y_WIDTH")) >= kNarrowestBlockResult;
        operators += block;
        if (!product) {
          add(tallies, cell.at("parameters"), "A_WIDTH", "B_WIDTH", array, {1, block});
        }
      } else if (modules_.contains(type)) {
        for (const auto& [width, tally] : of(type, array)) {
          tallies[width].products += tally.products;
          tallies[width].operators += tally.operators;
        }
      }
    }
    // A multiplier that only exchanges its operands holds another one, which has counted.
    if (product && tallies.empty()) {
      const json& values = module.at("parameter_default_values");
      const int64_t outputs = packed ? integer_of(values.at("ROWS")) : pair ? 2 : 1;
      add(tallies, values, "A", "B", array, {outputs, operators});
    }
    inside_.erase(key);
    return known_[key] = tallies;
  }

 private:
  static std::string source_name(const std::string& name, const json& module) {
    const json& attributes = module.at("attributes");
    std::string source = attributes.contains("hdlname") ? attributes.at("hdlname").get<std::string>() : name;
    if (!source.empty() && source[0] == '\\') source.erase(0, 1);
    return source;
  }

  static void add(Tallies& tallies, const json& parameters, const char* a, const char* b, bool array,
                  Tally tally) {
    const int first = integer_of(parameters.at(a)), second = integer_of(parameters.at(b));
    Tally& sum = tallies[{-std::max(first, second), -std::min(first, second), !array}];
    sum.products += tally.products;
    sum.operators += tally.operators;
  }

  const json& modules_;
  std::map<std::pair<std::string, bool>, Tallies> known_;
  std::set<std::pair<std::string, bool>> inside_;  // being counted
};

}  // namespace

int64_t MultiplierCount::array_products() const {
  int64_t sum = 0;
  for (const MultiplierClass& c : classes) sum += c.in_array ? c.products : 0;
  return sum;
}

int64_t MultiplierCount::wide_array_products() const {
  int64_t sum = 0;
  for (const MultiplierClass& c : classes) sum += c.in_array && c.b_bits > 18 ? c.products : 0;
  return sum;
}

int64_t MultiplierCount::operators() const {
  int64_t sum = 0;
  for (const MultiplierClass& c : classes) sum += c.operators;
  return sum;
}

MultiplierCount parse_multipliers(const std::string& text, const std::string& source_name,
                                  const std::string& top) {
  MultiplierCount count;
  try {
    const json netlist = json::parse(text);
    Walk walk(netlist.at("modules"));
    for (const auto& [width, tally] : walk.of(top, false)) {
      const auto& [a, b, outside] = width;
      count.classes.push_back({-a, -b, !outside, tally.products, tally.operators});
    }
  } catch (const json::exception& error) {
    fail_form(source_name, error.what());
  } catch (const std::logic_error& error) {  // no number, or a module in itself
    fail_form(source_name, error.what());
  }
  std::stable_sort(
      count.classes.begin(), count.classes.end(),
      [](const MultiplierClass& a, const MultiplierClass& b) { return a.in_array && !b.in_array; });
  return count;
}

MultiplierCount count_multipliers(const netlist::Netlist& design, const MemoryImages& images,
                                  const MultiplierCountOptions& options) {
  const std::string top = netlist::printed_module(design, design.top, component_library());
  std::string script;
  for (const std::filesystem::path& source :
       write_sources(design, images, options.folder, options.rtl_folder)) {
    script += fmt::format("read_verilog -sv \"{}\"\n", std::filesystem::absolute(source).string());
  }
  script += fmt::format("hierarchy -check -top {}\nproc\nwrite_json multipliers.json\n", top);
  write_text_file(options.folder / "multipliers.ys", script);
  synthesis::run_tool_checked(
      {"yosys", {"-q", "multipliers.ys"}, std::filesystem::absolute(options.folder), options.timeout_s});
  const std::filesystem::path file = options.folder / "multipliers.json";
  return parse_multipliers(read_text_file(file), file.string(), top);
}

}  // namespace tilewright::pipeline
