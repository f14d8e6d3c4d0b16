#include "fuzz/document_mutation.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <vector>

namespace tilewright {
namespace {

struct Span {
  size_t begin = 0, end = 0;
};

// The scalars of a document: runs of characters that no punctuation ends; a name before a colon is one, too.
std::vector<Span> scalars_of(const std::string& text) {
  const auto ends = [](char c) {
    return std::isspace(uint8_t(c)) != 0 || std::string_view("{}[],:\"'#").find(c) != std::string_view::npos;
  };
  std::vector<Span> found;
  for (size_t at = 0; at < text.size();) {
    if (ends(text[at]) || (text[at] == '-' && at + 1 < text.size() && text[at + 1] == ' ')) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !ends(text[end])) ++end;
    found.push_back({at, end});
    at = end;
  }
  return found;
}

// The value at a scalar: with its quotes.
Span value_at(const std::string& text, Span scalar) {
  if (scalar.begin > 0 && scalar.end < text.size() && text[scalar.begin - 1] == text[scalar.end] &&
      (text[scalar.end] == '"' || text[scalar.end] == '\'')) {
    return {scalar.begin - 1, scalar.end + 1};
  }
  return scalar;
}

template <typename T>
const T& one_of(const std::vector<T>& all, Random& random) {
  return all[size_t(random.between(0, int64_t(all.size()) - 1))];
}

std::string repeat(const std::string& text, int64_t times) {
  std::string all;
  for (; times > 0; --times) all += text;
  return all;
}

std::string other_value(const std::string& text, const std::vector<Span>& scalars, Random& random) {
  static const std::vector<std::string> kValues = {"0",
                                                   "-1",
                                                   "1",
                                                   "3",
                                                   "64",
                                                   "65536",
                                                   "2147483647",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "99999999999999999999",
                                                   "1e300",
                                                   "-1e-300",
                                                   "1e999",
                                                   ".nan",
                                                   ".inf",
                                                   "NaN",
                                                   "0x7f",
                                                   "0.5",
                                                   "~",
                                                   "null",
                                                   "true",
                                                   "\"\"",
                                                   "''",
                                                   "[]",
                                                   "{}",
                                                   "[1, 2]",
                                                   "{a: 1}",
                                                   "{\"a\": 1}",
                                                   "!!binary x",
                                                   "!Nothing {}",
                                                   "../../../etc/passwd",
                                                   "/dev/zero",
                                                   "a b",
                                                   "a=b",
                                                   "\xff\xfe",
                                                   "\"\\u0000\"",
                                                   "\x1b[2J",
                                                   "|",
                                                   "&",
                                                   "*x",
                                                   "? a"};
  if (random.chance(0.3)) {
    const Span other = value_at(text, one_of(scalars, random));
    return text.substr(other.begin, other.end - other.begin);
  }
  if (random.chance(0.03))
    return std::string(size_t(random.between(1000, 100000)), random.chance(0.5) ? '9' : 'x');
  return one_of(kValues, random);
}

std::string damage_lines(const std::string& text, Random& random) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at) + "\n");
    at = end + 1;
  }
  if (lines.empty()) return "\n";
  const auto at = [&] {
    return lines.begin() + std::ptrdiff_t(random.between(0, int64_t(lines.size()) - 1));
  };
  const auto chosen = at();
  const std::string line = *chosen;
  switch (random.between(0, 3)) {
    case 0:
      lines.erase(chosen);
      break;
    case 1:
      lines.insert(at(), line);
      break;
    case 2:
      std::swap(*chosen, *at());
      break;
    default:
      *chosen = random.chance(0.5) ? " " + line : line.substr(std::min<size_t>(line.size(), 2));
  }
  std::string result;
  for (const std::string& l : lines) result += l;
  return result;
}

}  // namespace

const char* name(DocumentDamage damage) {
  static constexpr const char* kNames[kDocumentDamages] = {"value",   "line",      "nesting",
                                                           "aliases", "expansion", "bytes"};
  return kNames[int(damage)];
}

std::string damage_document(const std::string& text, DocumentDamage damage, Random& random) {
  const std::vector<Span> scalars = scalars_of(text);
  if (scalars.empty()) return text + "x";
  std::string result = text;
  const Span value = value_at(text, one_of(scalars, random));
  const std::string old = text.substr(value.begin, value.end - value.begin);
  const auto replace = [&](const Span& place, const std::string& with) {
    result.replace(place.begin, place.end - place.begin, with);
  };
  switch (damage) {
    case DocumentDamage::kValue:
      replace(value, other_value(text, scalars, random));
      break;
    case DocumentDamage::kLine:
      return damage_lines(text, random);
    case DocumentDamage::kNesting: {
      static const std::vector<int64_t> kDepths = {1, 2, 3, 31, 63, 64, 65, 100, 1000, 20000};
      const int64_t depth = one_of(kDepths, random);
      const bool list = random.chance(0.6);
      replace(value, repeat(list ? "[" : "{\"a\": ", depth) + old +
                         (random.chance(0.9) ? repeat(list ? "]" : "}", depth) : ""));
      break;
    }
    case DocumentDamage::kAliases: {
      const Span second = value_at(text, one_of(scalars, random));
      const bool same = random.chance(0.3) || second.begin == value.begin;
      const Span first = second.begin < value.begin ? second : value,
                 last = second.begin < value.begin ? value : second;
      const std::string inside = text.substr(first.begin, first.end - first.begin);
      if (same) {
        replace(value, random.chance(0.5) ? "&n [*n, " + old + "]" : "&n {a: *n, *n : " + old + "}");
      } else {
        replace(last, random.chance(0.8) ? "*n" : "[*n, *n]");
        replace(first, "&n " + (random.chance(0.5) ? inside : "[" + inside + "]"));
      }
      break;
    }
    case DocumentDamage::kExpansion: {
      std::string bomb = "bomb0: &b0 [x]\n";
      const int64_t lines = random.between(1, 40);
      for (int64_t i = 1; i <= lines; ++i) {
        const std::string before = "*b" + std::to_string(i - 1);
        bomb +=
            "bomb" + std::to_string(i) + ": &b" + std::to_string(i) + " [" + before + ", " + before + "]\n";
      }
      replace(value, "*b" + std::to_string(lines));
      return random.chance(0.5) ? bomb + result : bomb;
    }
    case DocumentDamage::kBytes: {
      for (int64_t edits = random.between(1, 6); edits > 0; --edits)
        result[size_t(random.between(0, int64_t(result.size()) - 1))] = char(random.between(0, 255));
      if (random.chance(0.2)) result.resize(size_t(random.between(0, int64_t(result.size()))));
      break;
    }
  }
  return result;
}

}  // namespace tilewright
