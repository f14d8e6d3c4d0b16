// A page says what it was made from: the command as it would be typed again, the version, and the SHA-256
// (FIPS 180-4, by nettle) of every file that the verb reads.
#include "tilewright/cli/options/page_files.h"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "tilewright/base/file.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/usage_problems.h"

namespace tilewright::cli {
namespace {

std::string quoted_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Options in the order in which they were given.
std::string command_line(const CLI::App& verb) {
  std::string line = "tilewright " + verb_name(verb);
  std::vector<const CLI::Option*> seen;
  for (const CLI::Option* option : verb.parse_order()) {
    if (std::find(seen.begin(), seen.end(), option) != seen.end()) continue;
    seen.push_back(option);
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag || !option->get_positional()) line += " " + option->get_name();
    if (is_flag) continue;
    for (const std::string& value : option->results()) line += " " + quoted_word(value);
  }
  return line;
}

std::string sha256_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";
  sha256_ctx context;
  sha256_init(&context);
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    sha256_update(&context, size_t(file.gcount()), reinterpret_cast<const uint8_t*>(buffer.data()));
  }
  std::array<uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&context, digest.size(), digest.data());
  std::string text;
  for (const uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

PageOrigin origin_of(const CLI::App& verb) {
  PageOrigin origin{.command = command_line(verb), .version = TILEWRIGHT_VERSION};
  for (const NamedPath& input : inputs_of(verb)) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(input.path, failed)) continue;  // a preset's name, a folder, a pipe
    origin.inputs.push_back({input.option, input.path.string(), sha256_of(input.path),
                             double(std::filesystem::file_size(input.path, failed))});
  }
  return origin;
}

}  // namespace

void add_page(CLI::App* verb, PageOptions& options) {
  writes(verb->add_option(
      "--html", options.html,
      "Write the report as one interactive HTML page that needs nothing else (docs/guides/pages.md)"));
  writes(verb->add_option("--data", options.data, "Write the data of that page as JSON"));
  options.origin = [verb] { return origin_of(*verb); };
}

void write_page(const PageOptions& options, const std::function<Page()>& page) {
  if (options.html.empty() && options.data.empty()) return;
  Page finished = page();
  finished.origin = options.origin();
  if (!options.html.empty()) write_text_file(options.html, page_html(finished));
  if (!options.data.empty()) write_text_file(options.data, page_data(finished));
}

}  // namespace tilewright::cli
