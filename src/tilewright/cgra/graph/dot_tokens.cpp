// One pass over the text; every kind of token has a function that leaves the reader after it.
#include "tilewright/cgra/graph/dot_tokens.h"

#include <utility>

namespace tilewright::cgra {
namespace {

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

class Tokeniser {
 public:
  explicit Tokeniser(const std::string& text) : text_(text) {}

  std::vector<DotToken> run() {
    while (at_ < text_.size()) token();
    return std::move(tokens_);
  }

 private:
  bool comes(const char* what, size_t length) const { return text_.compare(at_, length, what) == 0; }
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  char next() {
    const char c = text_[at_++];
    line_ += c == '\n';
    return c;
  }
  void skip_behind(const char* end, size_t length) {
    const size_t found = text_.find(end, at_);
    const size_t stop = found == std::string::npos ? text_.size() : found + length;
    while (at_ < stop) next();
  }

  void token() {
    const char c = text_[at_];
    if (c == '#' || comes("//", 2)) return skip_behind("\n", 1);
    if (comes("/*", 2)) {
      at_ += 2;
      return skip_behind("*/", 2);
    }
    if (c == '"') return quoted();
    if (c == '<') return html();
    if (comes("->", 2) || comes("--", 2)) {
      tokens_.push_back({text_.substr(at_, 2), line_, DotToken::Kind::kMark});
      at_ += 2;
      return;
    }
    if (name_character(c) || (c == '-' && name_character(peek(1)))) return bare();
    const int line = line_;
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    next();
    if (!blank) tokens_.push_back({std::string(1, c), line, DotToken::Kind::kMark});
  }

  void bare() {
    DotToken token{{}, line_, DotToken::Kind::kBare};
    do token.text += next();
    while (at_ < text_.size() && name_character(text_[at_]));
    tokens_.push_back(std::move(token));
  }

  void quoted() {
    DotToken token{{}, line_, DotToken::Kind::kQuoted};
    for (next(); at_ < text_.size() && text_[at_] != '"';) {
      const char c = next(), after = peek(0);
      if (c == '\\' && (after == '"' || after == '\\')) {
        token.text += next();
      } else if (c == '\\' && after == '\n') {
        next();
      } else {
        token.text += c;
      }
    }
    if (at_ < text_.size()) next();
    const size_t count = tokens_.size();
    const bool joins = count > 1 && tokens_[count - 1].kind == DotToken::Kind::kMark &&
                       tokens_[count - 1].text == "+" && tokens_[count - 2].kind == DotToken::Kind::kQuoted;
    if (joins) {
      tokens_.pop_back();
      tokens_.back().text += token.text;
    } else {
      tokens_.push_back(std::move(token));
    }
  }

  // Angle brackets nest.
  void html() {
    DotToken token{{}, line_, DotToken::Kind::kQuoted};
    next();
    for (int depth = 1; at_ < text_.size();) {
      const char c = next();
      depth += c == '<' ? 1 : c == '>' ? -1 : 0;
      if (depth == 0) break;
      token.text += c;
    }
    tokens_.push_back(std::move(token));
  }

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<DotToken> tokens_;
};

}  // namespace

std::vector<DotToken> dot_tokens(const std::string& text) { return Tokeniser(text).run(); }

}  // namespace tilewright::cgra
