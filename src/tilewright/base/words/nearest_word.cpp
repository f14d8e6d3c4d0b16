// The optimal string alignment distance (Damerau 1964, Boytsov 2011) over three rows of its table.
#include "tilewright/base/words/nearest_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace tilewright {
namespace {

constexpr size_t kLongest = 64;  // longer words are no names

std::string plain(const std::string& word) {
  std::string text = word.substr(0, kLongest + 1);
  for (char& c : text) c = c == '_' ? '-' : char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + size_t(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t kLeastBeginning = 3;  // letters
  const std::string meant = plain(word);
  if (meant.empty() || meant.size() > kLongest) return "";
  std::string nearest;
  size_t fewest = std::max<size_t>(meant.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const std::string there = plain(candidate);
    if (there.empty()) continue;
    // One edit turns any letter into any other.
    const size_t most = std::min(meant.size(), there.size()) - 1;
    const size_t count = edits(meant, there);
    if (count < fewest && (count <= most || count == 0)) {
      fewest = count;
      nearest = candidate;
    }
  }
  if (!nearest.empty() || meant.size() < kLeastBeginning) return nearest;
  for (const std::string& candidate : known) {
    if (plain(candidate).starts_with(meant)) return candidate;
  }
  return "";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
}

std::string words_hint(const std::string& word, const std::vector<std::string>& known,
                       const std::string& title) {
  return fmt::format("{}{}: {}", did_you_mean(word, known), title, fmt::join(known, ", "));
}

}  // namespace tilewright
