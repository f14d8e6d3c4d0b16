// How --help looks: at most 100 columns, with the default and the possible values of every option.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tilewright::cli {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace tilewright::cli
