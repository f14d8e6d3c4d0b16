// The command line of `demo`.
#include <ostream>

#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/word_checks.h"
#include "tilewright/flow/demo/demo.h"

namespace tilewright::cli {

CLI::App* add_demo(CLI::App& app, DemoOptions& options, std::ostream& out) {
  Verb* verb = add_verb(app, "demo",
                        "The whole way in less than a minute: a trained network is quantised, compiled, run "
                        "and checked, in two arithmetics",
                        "demo -o lenet/");
  replaces_folder(verb->add_option("-o,--output", options.output, "Folder for the models and bundles"));
  verb->add_option("--images", options.images, "Test images to run")
      ->check(between(int64_t{1}, int64_t{10000}));
  reads(verb->add_option("--data", options.data,
                         std::string("Folder of the Fashion-MNIST files (default: ") + kFashionMnist + ")"));
  add_threads(verb, options.threads);
  add_json(verb, options.json);
  verb->callback([&options, &out] { demo(options, out); });
  return verb;
}

}  // namespace tilewright::cli
