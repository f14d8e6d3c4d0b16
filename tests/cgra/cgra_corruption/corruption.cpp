// Fields are the leaves of the JSON; what is a good lie about one follows from its key.
#include "corruption.h"

#include <fmt/format.h>

#include <vector>

#include "tilewright/cgra/configure/configuration.h"

namespace tilewright::cgra {
namespace {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;

void collect(const Json& at, const Pointer& path, std::vector<Pointer>& leaves) {
  if (at.is_object()) {
    for (const auto& [key, value] : at.items()) collect(value, path / key, leaves);
  } else if (at.is_array()) {
    for (size_t i = 0; i < at.size(); ++i) collect(at[i], path / i, leaves);
  } else {
    leaves.push_back(path);
  }
}

// The last key of a path that is no list index.
std::string key_of(Pointer path) {
  while (!path.empty() && path.back().find_first_not_of("0123456789") == std::string::npos) path.pop_back();
  return path.empty() ? "" : path.back();
}

// All strings under keys that hold names of variables.
std::vector<std::string> variable_names(const Json& file) {
  std::vector<std::string> names;
  for (const Json& tile : file["tiles"]) {
    if (!tile.contains("variables")) continue;
    for (const Json& variable : tile["variables"]) names.push_back(variable["name"]);
  }
  return names;
}

int64_t other_number(int64_t was, Random& random) {
  switch (random.between(0, 3)) {
    case 0:
      return was + 1;
    case 1:
      return was > 0 ? was - 1 : was + 2;
    case 2:
      return was ^ (int64_t{1} << random.between(0, 4));
    default:
      return random.between(0, 15);
  }
}

std::string letter_changed(std::string text, Random& random) {
  if (text.empty()) return "x";
  text[size_t(random.between(0, int64_t(text.size()) - 1))] = char('a' + random.between(0, 25));
  return text;
}

std::string other_text(const Json& file, const Pointer& path, const std::string& was, Random& random) {
  const std::string key = key_of(path);
  if (key == "op" || key == "then")
    return std::string(opcode_facts(Opcode(random.between(0, kOpcodes - 1))).name);
  if (key == "from" || key == "inputs") {
    const Json& fabric = file["fabric"];
    const int64_t tiles = fabric.value("rows", int64_t{1}) * fabric.value("columns", int64_t{1});
    const int64_t registers = fabric.value("delay_registers", int64_t{1});
    const int64_t choice = random.between(0, 5);
    if (choice == 0) return "result";
    if (choice == 1)
      return fmt::format("register {}", random.between(0, std::max<int64_t>(0, registers - 1)));
    return fmt::format("link {}", random.between(0, tiles - 1));
  }
  if (key == "operands") return was == "input" ? "thread" : "input";
  const std::vector<std::string> names = variable_names(file);
  const bool variable = key == "variable" || key == "waits_for" || key == "fills";
  if (variable && !names.empty() && random.chance(0.5))
    return names[size_t(random.between(0, int64_t(names.size()) - 1))];
  return letter_changed(was, random);
}

bool same_results(const FabricSimulationResult& a, const FabricSimulationResult& b) {
  return a.values == b.values && a.stores == b.stores && a.arrays == b.arrays && a.memories == b.memories;
}

bool same_timing(const FabricSimulationResult& a, const FabricSimulationResult& b) {
  if (a.cycles != b.cycles || a.started != b.started) return false;
  for (size_t i = 0; i < a.flows.size(); ++i) {
    if (a.flows[i].first_start != b.flows[i].first_start || a.flows[i].last_start != b.flows[i].last_start)
      return false;
  }
  return true;
}

}  // namespace

int64_t field_count(const Json& file) {
  std::vector<Pointer> leaves;
  collect(file, Pointer(), leaves);
  return int64_t(leaves.size());
}

Corruption corrupt(const Json& file, Random& random) {
  std::vector<Pointer> leaves;
  collect(file, Pointer(), leaves);
  const Pointer& path = leaves[size_t(random.between(0, int64_t(leaves.size()) - 1))];
  Corruption made{path.to_string(), file[path].dump(), "", file};
  Json& field = made.result[path];
  while (field == file[path]) {
    if (field.is_boolean()) {
      field = !field.get<bool>();
    } else if (field.is_number()) {
      field = other_number(field.get<int64_t>(), random);
    } else {
      field = other_text(file, path, field.get<std::string>(), random);
    }
  }
  made.is = field.dump();
  return made;
}

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kFault:
      return "fault";
    case Outcome::kOtherResult:
      return "other_result";
    case Outcome::kOtherTiming:
      return "other_timing";
    case Outcome::kNone:
      return "none";
  }
  return "?";
}

Outcome run_corrupted(const Corruption& corruption, const Inputs& inputs,
                      const FabricSimulationOptions& options, const FabricSimulationResult& good) {
  std::optional<Configuration> configuration;
  try {
    configuration = parse_configuration(corruption.result.dump(), "corrupted");
  } catch (const Error& error) {
    return Outcome::kRejected;
  }
  const FabricSimulationResult result = simulate_fabric(*configuration, inputs, options);
  if (result.fault) return Outcome::kFault;
  if (!same_results(result, good)) return Outcome::kOtherResult;
  return same_timing(result, good) ? Outcome::kNone : Outcome::kOtherTiming;
}

std::string harmless_because(const Corruption& corruption) {
  const Pointer path(corruption.field);
  const std::string key = key_of(path);
  if (path.parent_pointer().empty() && key == "name") return "a name for people";
  if (corruption.field.rfind("/fabric/", 0) == 0)
    return key == "name" ? "a name for people"
                         : "a part or limit of the machine that the program does not reach";
  if (key == "start" || key == "clock" || key == "tile" || key == "entries" || key == "ii" || key == "flow")
    return "the same work at other clocks, on another tile or in a ring of another size";
  if (key == "op" || key == "then" || key == "operands" || key == "initial" || key == "array" ||
      key == "table")
    return "an operation with the same results on these inputs";
  if (key == "stride" || key == "offset")
    return "another entry of a variable that no operation of the program reads";
  if (key == "inputs" || key == "from") return "another way of the same value";
  if (key == "argument") return "an argument that never matters on these inputs";
  return "";
}

}  // namespace tilewright::cgra
