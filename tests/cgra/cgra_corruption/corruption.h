// One wrong field in a configuration file, what came of it, and why some go unnoticed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tilewright/base/random.h"
#include "tilewright/cgra/simulate/fabric_simulator.h"

namespace tilewright::cgra {

struct Corruption {
  std::string field;      // JSON pointer
  std::string was, is;    // the values, as JSON
  nlohmann::json result;  // the whole file
};

int64_t field_count(const nlohmann::json& file);

// Another value for one field, each field of the file with the same chance: a number near the old one or of
// the same size, another opcode, another source of a value, another name of the file, a letter changed. The
// new value has the form of the old one wherever that is possible, so that the reader alone finds little.
Corruption corrupt(const nlohmann::json& file, Random& random);

enum class Outcome {
  kRejected,     // the reader or Configuration::verify names a problem
  kFault,        // the run ends with a fault
  kOtherResult,  // an operation's result, a stored record or a tile memory differs
  kOtherTiming,  // the same results at other clocks
  kNone,
};
// "rejected", "other_result", ...
const char* name(Outcome outcome);

Outcome run_corrupted(const Corruption& corruption, const Inputs& inputs,
                      const FabricSimulationOptions& options, const FabricSimulationResult& good);

// Why a corruption that changes no result can be harmless, by the field; empty: no reason is known.
std::string harmless_because(const Corruption& corruption);

}  // namespace tilewright::cgra
