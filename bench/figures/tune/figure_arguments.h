// What the command line of a figure says: --quick, options with a value, files.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {

struct FigureArguments {
  bool quick = false;
  std::map<std::string, std::string> values;  // by option
  std::vector<std::string> files;

  std::string value(const std::string& option, const std::string& otherwise = {}) const {
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

// `options`: those with a value, "--budget". Errors (invalid input): another option, or one without its
// value.
inline FigureArguments figure_arguments(int argc, char** argv, const std::vector<std::string>& options) {
  FigureArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      arguments.quick = true;
    } else if (!word.starts_with("--")) {
      arguments.files.push_back(word);
    } else if (std::find(options.begin(), options.end(), word) != options.end() && i + 1 < argc) {
      arguments.values[word] = argv[++i];
    } else {
      std::string known = "options: --quick";
      for (const std::string& option : options) known += ", " + option + " VALUE";
      throw Error(ErrorKind::kInvalidInput, "'" + word + "' is not an option or lacks its value", known);
    }
  }
  return arguments;
}

}  // namespace tilewright
