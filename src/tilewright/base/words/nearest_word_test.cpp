#include "tilewright/base/words/nearest_word.h"

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

const std::vector<std::string> kVerbs = {"inspect", "optimize", "map", "place", "compile", "run", "tune"};

// No two of these are within two edits of each other.
TEST(NearestWord, UndoesOneEditOfAnyKindInRandomWords) {
  const std::vector<std::string> words = {"inspect", "optimize", "map", "place", "compile", "records"};
  std::mt19937 random(7);
  const auto below = [&](size_t count) { return size_t(random()) % count; };
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string& word = words[below(words.size())];
    std::string typed = word;
    const size_t at = below(word.size());
    switch (below(4)) {
      case 0:
        typed.erase(at, 1);
        break;
      case 1:
        typed.insert(at, 1, char('a' + below(26)));
        break;
      case 2:
        typed[at] = char('a' + below(26));
        break;
      default:
        if (at + 1 < word.size()) std::swap(typed[at], typed[at + 1]);
    }
    EXPECT_EQ(nearest_word(typed, words), word) << typed;
  }
}

TEST(NearestWord, IgnoresCapitalsAndLines) {
  EXPECT_EQ(nearest_word("VTA_Default", {"vta-small", "vta-default"}), "vta-default");
  EXPECT_EQ(nearest_word("OS_A", {"os_b", "os_a"}), "os_a");
}

TEST(NearestWord, CompletesABeginning) {
  EXPECT_EQ(nearest_word("streaming", {"mesh-4x4", "streaming-engine"}), "streaming-engine");
  EXPECT_EQ(nearest_word("st", {"mesh-4x4", "streaming-engine"}), "");
}

TEST(NearestWord, IsEmptyForOtherWords) {
  for (const char* word : {"", "x", "zebra", "explain-this", "tilewright"}) {
    EXPECT_EQ(nearest_word(word, kVerbs), "") << word;
  }
  EXPECT_EQ(nearest_word(std::string(100000, 'a'), kVerbs), "");
  EXPECT_EQ(nearest_word("map", {}), "");
}

TEST(NearestWord, HintNamesAllWords) {
  EXPECT_EQ(words_hint("mpa", kVerbs, "verbs"),
            "did you mean 'map'? verbs: inspect, optimize, map, place, compile, run, tune");
  EXPECT_EQ(words_hint("zebra", {"one", "two"}, "choose one of"), "choose one of: one, two");
}

}  // namespace
}  // namespace tilewright
