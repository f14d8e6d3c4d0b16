// A small network whose layers have the names of Verilog's keywords, and inputs for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command.h"

namespace tilewright {

struct SmallModel {
  std::filesystem::path path, images;  // float, [8, 2, 6, 6]
};
// Two convolutions and a dense layer: "module", "module_", "reg". Made once per test program.
const SmallModel& small_model();

// Options that calibrate it.
std::string calibrated();
// Options of designs of every form and number type.
std::vector<std::string> small_model_forms();
// The folder of its design with these options; `name` is the folder's own.
std::filesystem::path small_design(const std::string& name, const std::string& options);
// What the command printed; it has to succeed.
CommandResult expect_success(const std::string& arguments);

// Four images at once, through two branches that are concatenated.
std::filesystem::path batch_model(const std::filesystem::path& folder);

// Dense layers, 12 inputs to 10, 6 and 3, and four inputs for it.
SmallModel dense_model(const std::filesystem::path& folder);

// Two layers with operators between them that no hardware has: "middle_one", "middle_two".
std::filesystem::path unsupported_model(const std::filesystem::path& folder);

}  // namespace tilewright
