#include "tilewright/base/confined_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// root/home is the folder of the file that names others, root/else is outside.
class ConfinedPath : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::canonical(testing::TempDir()) / ("tilewright_confined_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    create_folder(root_ / "home/sub/deep");
    create_folder(root_ / "else/inner");
    write_text_file(root_ / "home/a", "a");
    write_text_file(root_ / "else/b", "b");
  }
  void TearDown() override { fs::remove_all(root_); }

  // The error, without the temporary folder; empty: none.
  std::string refusal(const fs::path& name, const fs::path& folder = "home") const {
    try {
      EXPECT_EQ(confined_path(root_ / folder, name), root_ / folder / name);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      std::string text = error.what();
      for (size_t at; (at = text.find(root_.string())) != std::string::npos;)
        text.replace(at, root_.string().size(), "ROOT");
      return text;
    }
  }

  fs::path root_;
};

TEST_F(ConfinedPath, LetsNamesInsideThrough) {
  for (const char* name :
       {"a", "./a", "sub/../a", "sub/deep/../../a", "new", "new/deep/file", "..a/b", "a..", ""}) {
    EXPECT_EQ(refusal(name), "") << name;
  }
  EXPECT_EQ(refusal(root_ / "home/sub"), "");  // absolute, but inside
}

TEST_F(ConfinedPath, RefusesDotsAndAbsoluteNamesThatLeadOut) {
  EXPECT_EQ(refusal("../else/b"),
            "'../else/b' leads outside 'ROOT/home', the folder of the file that names it; keep the files "
            "together, or "
            "pass --allow-outside if you trust where they come from");
  for (const char* name : {"..", "../home2", "sub/../../else/b", "new/../../else/b", "new/../..",
                           "/etc/passwd", "/", "../../../../../../../../../../etc/passwd"}) {
    EXPECT_NE(refusal(name).find("leads outside"), std::string::npos) << name;
  }
}

TEST_F(ConfinedPath, FollowsSymbolicLinks) {
  fs::create_symlink("sub/deep", root_ / "home/inside");
  fs::create_symlink("../else", root_ / "home/outside");
  fs::create_symlink("../else/b", root_ / "home/file");
  fs::create_symlink("outside", root_ / "home/twice");
  fs::create_symlink("../else/nothing", root_ / "home/dangling");
  fs::create_symlink("loop", root_ / "home/loop");
  EXPECT_EQ(refusal("inside/new"), "");
  EXPECT_EQ(refusal("inside/../../a"), "");  // the folder above sub/deep is sub
  EXPECT_EQ(refusal("outside/../home/a"), "");
  for (const char* name :
       {"outside/b", "outside/new", "file", "twice/inner", "inside/../../../else", "outside/inner/../b"}) {
    EXPECT_NE(refusal(name).find("leads outside"), std::string::npos) << name;
  }
  EXPECT_EQ(refusal("dangling"),
            "'dangling' in 'ROOT/home' goes through a symbolic link that cannot be followed");
  EXPECT_NE(refusal("loop/x").find("cannot be followed"), std::string::npos);
  // The folder itself may be a link.
  fs::create_directory_symlink("home", root_ / "alias");
  EXPECT_EQ(refusal("sub/new", "alias"), "");
  EXPECT_NE(refusal("../else/b", "alias").find("leads outside"), std::string::npos);
}

TEST_F(ConfinedPath, TakesEverythingWhereTheUserAllowsIt) {
  EXPECT_EQ(confined_path("home", "../else/b", Confinement::kNone), fs::path("home/../else/b"));
  EXPECT_EQ(confined_path("home", "/etc/passwd", Confinement::kNone), fs::path("/etc/passwd"));
}

TEST_F(ConfinedPath, AnEmptyFolderIsTheCurrentOne) {
  EXPECT_EQ(confined_path("", "new/file"), fs::path("new/file"));
  EXPECT_THROW(confined_path("", "../file"), Error);
}

using ConfinedPathClass = ConfinedPath;

// Random names over random links: what is let through is, for the operating system too, inside.
TEST_F(ConfinedPathClass, NoNameThatIsLetThroughReachesOutside) {
  const int64_t cases = test_cases(3000);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  fs::create_symlink("../else", root_ / "home/out");
  fs::create_symlink("..", root_ / "home/sub/up");
  fs::create_symlink("../../..", root_ / "home/sub/deep/far");
  fs::create_symlink(root_ / "home", root_ / "else/back");
  const char* const parts[] = {"a",  "b",   "sub",  "deep",  "..",   ".",   "out",
                               "up", "far", "back", "inner", "home", "else"};
  int64_t reached = 0, refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    fs::path name = random.chance(0.1) ? root_ / "home" : fs::path();
    for (int64_t n = random.between(1, 7); n > 0; --n) name /= parts[random.between(0, std::size(parts) - 1)];
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", name " << name);
    std::error_code failure;
    const fs::path real = fs::canonical(root_ / "home" / name, failure);
    const bool exists = !failure;
    const std::string home = (root_ / "home").string();
    const bool inside = exists && (real.string() == home || real.string().starts_with(home + "/"));
    const bool let_through = refusal(name).empty();
    if (exists) {
      EXPECT_EQ(let_through, inside);
    }
    reached += exists && let_through;
    refused += exists && !let_through;
  }
  EXPECT_GE(reached, cases / 50);
  EXPECT_GE(refused, cases / 50);
}

}  // namespace
}  // namespace tilewright
