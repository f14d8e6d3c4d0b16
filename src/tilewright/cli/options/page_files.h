// The page of a verb's report: --html and --data.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/report/page.h"

namespace tilewright::cli {

void add_page(CLI::App* verb, PageOptions& options);
// Writes the files that are asked for; `page` is made only then. Errors: those of writing.
void write_page(const PageOptions& options, const std::function<Page()>& page);

}  // namespace tilewright::cli
