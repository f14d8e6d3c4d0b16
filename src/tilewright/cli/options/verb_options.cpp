// A verb with its example under --help and the check that it overwrites none of its inputs; options that are
// numbers or times with a unit.
#include "tilewright/cli/options/verb_options.h"

#include <cmath>

#include "tilewright/cli/options/file_options.h"

namespace tilewright::cli {

CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& description,
                   const std::string& example) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->footer("Example:\n  tilewright " + example);
  verb->parse_complete_callback([verb] { refuse_overwriting(*verb); });
  return verb;
}

CLI::Validator number_check(const std::string& wanted, bool (*accepts)(double)) {
  return CLI::Validator(
      [wanted, accepts](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && accepts(value);
        return fits ? std::string() : "'" + text + "' is not " + wanted;
      },
      "");
}

double seconds_of(const std::string& option, const std::string& text) {
  const size_t unit = text.find_first_not_of("0123456789.");
  const std::string name = unit == std::string::npos ? "s" : text.substr(unit);
  const double scale = name == "ms"                   ? 1e-3
                       : name == "s"                  ? 1
                       : name == "m" || name == "min" ? 60
                       : name == "h"                  ? 3600
                                                      : 0;
  double value = 0;
  if (scale == 0 || !CLI::detail::lexical_cast(text.substr(0, unit), value) || !(value * scale > 0)) {
    throw CLI::ValidationError(option, "'" + text + "' is not a time like 500ms, 10s, 2m or 1h");
  }
  return value * scale;
}

}  // namespace tilewright::cli
