#include "tilewright/base/folder_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "support/error_text_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

fs::path fresh(const std::string& name) {
  const fs::path folder =
      fs::path(testing::TempDir()) / ("tilewright_folder_" + std::to_string(::getpid()) + "_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void put(const fs::path& file, const std::string& text) {
  create_folder(file.parent_path());
  write_text_file(file, text);
}

void write(const fs::path& folder, const Files& files, const std::string& maker = "generate") {
  FolderWriter writer(folder, maker);
  for (const auto& [name, text] : files) put(writer.path() / name, text);
  writer.commit();
}

// Without the manifest.
Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != kManifestFile)
      files[entry.path().lexically_relative(folder).string()] = read_text_file(entry.path());
  }
  return files;
}

size_t names_in(const fs::path& folder) {
  return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(FolderWriter, KeepsWhatWasAddedAndDropsWhatItWrote) {
  const fs::path root = fresh("keeps"), folder = root / "out";
  write(folder, {{"a.v", "old"}, {"rtl/b.v", "old"}});
  put(folder / "notes.md", "mine");
  put(folder / "rtl/deep/mine.txt", "mine too");
  fs::create_symlink("notes.md", folder / "link");
  write(folder, {{"a.v", "new"}, {"c.v", "new"}});
  const Files expected = {{"a.v", "new"},
                          {"c.v", "new"},
                          {"notes.md", "mine"},
                          {"rtl/deep/mine.txt", "mine too"},
                          {"link", "mine"}};
  EXPECT_EQ(files_of(folder), expected);
  EXPECT_EQ(fs::read_symlink(folder / "link"), "notes.md");
  EXPECT_EQ(names_in(root), 1u);
}

TEST(FolderWriter, RefusesToReplaceWhatIsNotIts) {
  const fs::path root = fresh("refuses"), folder = root / "out";
  put(folder / "thesis.txt", "work of years");
  const std::string foreign =
      "the folder '" + folder.string() +
      "' holds something that 'generate' did not write (thesis.txt); give another folder, or "
      "empty this one";
  EXPECT_EQ(refusal_text([&] { write(folder, {{"a", "1"}}); }), foreign);
  EXPECT_EQ(refusal_text([&] {
              write(folder / "thesis.txt", {{"a", "1"}});
            }),
            "'" + (folder / "thesis.txt").string() + "' is not a folder; give a folder that can be created");
  EXPECT_EQ(files_of(root), (Files{{"out/thesis.txt", "work of years"}}));

  const fs::path other = root / "other";
  write(other, {{"a", "1"}, {"b", "2"}}, "optimize");
  EXPECT_NE(refusal_text([&] {
              write(other, {{"a", "1"}});
            }).find("that 'generate' did not write"),
            std::string::npos);
  write_text_file(other / "a", "mine");
  EXPECT_EQ(refusal_text([&] {
              write(other, {{"a", "3"}}, "optimize");
            }),
            "'" + other.string() +
                "' contains files that 'optimize' wrote and that were changed afterwards (a); move these "
                "files away to keep " +
                "them, or remove them; or give another folder");
  fs::remove(other / "a");
  put(other / "c", "mine");
  EXPECT_EQ(refusal_text([&] {
              write(other, {{"c", "3"}}, "optimize");
            }),
            "'" + other.string() +
                "' holds other files under names that are about to be written (c); move them away, or give " +
                "another folder");
  EXPECT_EQ(files_of(other), (Files{{"b", "2"}, {"c", "mine"}}));
  ASSERT_EQ(::mkfifo((other / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal_text([&] {
              write(other, {{"a", "3"}}, "optimize");
            }).find("other than files, folders and links (pipe)"),
            std::string::npos);
  EXPECT_EQ(names_in(root), 2u);
}

// A link that took the place of a file is the user's, also one to the same content.
TEST(FolderWriter, ALinkInThePlaceOfItsFileIsAChange) {
  const fs::path root = fresh("linked"), folder = root / "out";
  write(folder, {{"a", "1"}});
  fs::rename(folder / "a", root / "moved");
  fs::create_symlink(root / "moved", folder / "a");
  EXPECT_NE(refusal_text([&] {
              write(folder, {{"a", "2"}});
            }).find("were changed afterwards (a)"),
            std::string::npos);
  EXPECT_EQ(read_text_file(root / "moved"), "1");
}

TEST(FolderWriter, TouchesNothingBesideItsTarget) {
  const fs::path root = fresh("beside"), folder = root / "out";
  put(root / "out.partial/thesis.txt", "work of years");
  write(folder, {{"a", "1"}});
  { FolderWriter dropped(folder, "generate"); }
  const fs::path before = fs::current_path();
  fs::current_path(root);
  write("out", {{"a", "1"}});  // a name without a folder
  fs::current_path(before);
  fs::create_directory_symlink("out", root / "link");
  write(root / "link", {{"a", "2"}});
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_EQ(files_of(folder), (Files{{"a", "2"}}));
  EXPECT_EQ(read_text_file(root / "out.partial/thesis.txt"), "work of years");
  EXPECT_EQ(names_in(root), 3u);
}

TEST(FolderClaim, LeavesWhatWasThereToItsOwner) {
  const fs::path folder = fresh("claim") / "out";
  {
    const FolderClaim claim(folder, "synth");
    put(folder / "netlist.v", "1");
  }
  put(folder / "notes.md", "mine");
  {
    const FolderClaim claim(folder, "synth");
    put(folder / "netlist.v", "2");
  }
  put(folder / "notes.md", "changed");
  { const FolderClaim claim(folder, "synth"); }
  put(folder / "netlist.v", "edited");
  EXPECT_NE(refusal_text([&] { FolderClaim(folder, "synth"); }).find("were changed afterwards (netlist.v)"),
            std::string::npos);
  const fs::path taken = fresh("claim_taken");
  put(taken / "thesis.txt", "work of years");
  EXPECT_NE(refusal_text([&] { FolderClaim(taken, "synth"); }).find("(thesis.txt)"), std::string::npos);
}

Files random_files(Random& random) {
  Files files;
  for (int64_t i = random.between(0, 6); i > 0; --i) {
    std::string name = random.chance(0.4) ? "sub/" : "";
    name += char('a' + random.between(0, 5));
    files[name] = std::to_string(random.between(0, 3));
  }
  return files;
}

// Makers write again and again; between them a user adds, changes and removes files. Nothing of the user's is
// ever lost: either the new folder has it, or the command is refused and the old folder is as it was.
TEST(FolderWriterClass, LosesNothingOfTheUsers) {
  Random random(test_seed());
  const int64_t cases = test_cases(150);
  RecordProperty("cases", int(cases));
  const fs::path root = fresh("class"), folder = root / "out";
  Files ours, users;  // what is there
  for (int64_t i = 0; i < cases; ++i) {
    for (int64_t edits = random.between(0, 2); edits > 0; --edits) {
      for (const auto& [name, text] : random_files(random)) {
        if (random.chance(0.3)) {
          fs::remove(folder / name);
          ours.erase(name);
          users.erase(name);
        } else if (random.chance(0.3) && !fs::is_directory(folder / name)) {
          put(folder / name, "user " + text);
          ours.erase(name);
          users[name] = "user " + text;
        }
      }
    }
    if (ours.empty() && random.chance(0.3)) {
      fs::remove_all(folder);
      users.clear();
    }
    const Files before = fs::exists(folder) ? files_of(folder) : Files();
    const Files next = random_files(random);
    const std::string said = refusal_text([&] { write(folder, next); });
    const Files after = fs::exists(folder) ? files_of(folder) : Files();
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i) + ": " + said);
    if (said != "no error") {
      ASSERT_EQ(after, before);
      ASSERT_FALSE(users.empty());
    } else {
      Files expected = next;
      for (const auto& [name, text] : users) ASSERT_TRUE(expected.emplace(name, text).second);
      ASSERT_EQ(after, expected);
      ours = next;
    }
    ASSERT_EQ(names_in(root), fs::exists(folder) ? 1u : 0u);
    if (said != "no error" && random.chance(0.5)) {  // otherwise one change refuses all that follow
      fs::remove_all(folder);
      ours.clear();
      users.clear();
    }
  }
}

// A process that writes version after version is killed at random moments: a version is whole, and no older
// than the last that was seen.
TEST(FolderWriterClass, AKillLeavesTheOldOrTheNewWhole) {
  Random random(test_seed());
  const int64_t cases = test_cases(25);
  RecordProperty("cases", int(cases));
  const fs::path root = fresh("kill"), folder = root / "out";
  const auto version = [](int number) {
    Files files;
    for (int i = 0; i < 5 + number % 7; ++i) files["f" + std::to_string(i)] = std::to_string(number);
    return files;
  };
  write(folder, version(0));
  put(folder / "notes.md", "mine");
  for (int64_t i = 0; i < cases; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int number = 1;; ++number) write(folder, version(number));
    }
    ::usleep(useconds_t(random.between(500, 20000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Files found = files_of(folder);
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    ASSERT_EQ(found["notes.md"], "mine");
    found.erase("notes.md");
    ASSERT_FALSE(found.empty());
    ASSERT_EQ(found, version(std::stoi(found["f0"])));
    check_folder_target(folder, "generate");
  }
}

}  // namespace
}  // namespace tilewright
