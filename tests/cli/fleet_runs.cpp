#include "fleet_runs.h"

#include <sstream>

#include "command.h"
#include "tilewright/base/file.h"

namespace tilewright {

std::string TuneRun::command(const std::string& options) const {
  return "tune " + demo_files().bundle.string() +
         " --layer conv1_1 --layer conv2_1 --trials 64 --batch 32 --search evolution --json --records " +
         records().string() + " -o " + bundle().string() + " " + options + " 2>/dev/null";
}

std::string explore_model(const std::filesystem::path& model, const std::filesystem::path& study,
                          const std::string& options) {
  return "explore " + model.string() + " --device xc7z020 --precision 8 --trials 4 --candidates 8 -o " +
         study.string() + " " + options;
}

nlohmann::json without_seconds(nlohmann::json value) {
  if (value.is_object()) {
    for (const char* key : {"seconds", "worker_s"}) value.erase(key);
  }
  if (value.is_structured()) {
    for (auto& item : value) item = without_seconds(std::move(item));
  }
  return value;
}

nlohmann::json findings(const std::filesystem::path& study) {
  nlohmann::json found;
  found["front"] = without_seconds(nlohmann::json::parse(read_text_file(study / "front.json")));
  std::istringstream lines(read_text_file(study / "w8a8/candidates.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json candidate = nlohmann::json::parse(line);
    found["candidates"][std::to_string(candidate.at("point").get<int64_t>())] = without_seconds(candidate);
  }
  return found;
}

}  // namespace tilewright
