// What the tests of `tune` and `explore` with executors compare: answers without what names or times a run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace tilewright {

// A tuning of some layers of the demo network, in batches of 32 trials, four jobs each. Leaves NAME.twb and
// NAME.db in the folder.
struct TuneRun {
  std::filesystem::path folder;
  std::string name;
  std::string command(const std::string& options) const;
  std::filesystem::path bundle() const { return folder / (name + ".twb"); }
  std::filesystem::path records() const { return folder / (name + ".db"); }
};

// An exploration of a model with 8 candidates of 8 bits, four trials a layer.
std::string explore_model(const std::filesystem::path& model, const std::filesystem::path& study,
                          const std::string& options = {});

// Numbers of seconds taken out, at any depth.
nlohmann::json without_seconds(nlohmann::json value);
// What a study found: its front and every candidate, in the order of their points.
nlohmann::json findings(const std::filesystem::path& study);

}  // namespace tilewright
