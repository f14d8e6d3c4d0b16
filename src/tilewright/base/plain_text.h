// Characters of the texts that files hold: what a terminal may see of them (names can hold control
// characters, which would move the cursor, change colours, or fake lines), UTF-8, letters of ASCII.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright {

enum class ControlCharacters { kNone, kLinesAndTabs };  // those that stay

// `text` with its control characters as JSON writes them, "\u001b". These are the characters 0 to 31 and 127
// to 159, and bytes that are not UTF-8, which some terminals mistake for the latter.
std::string plain_text(std::string_view text, ControlCharacters kept = ControlCharacters::kNone);

// Bytes of the UTF-8 character at the front of a non-empty text: 1 to 4; 0 if there is none (a stray or
// missing continuation, an overlong form, half of a surrogate pair, above U+10FFFF).
size_t utf8_length(std::string_view text);
// Whether `text` is UTF-8 from end to end. JSON and other files that programs read hold nothing else.
bool valid_utf8(std::string_view text);

// With a to z for A to Z, whatever the locale says; all else stays.
std::string lower_case(std::string text);

}  // namespace tilewright
