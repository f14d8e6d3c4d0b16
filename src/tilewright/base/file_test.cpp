#include "tilewright/base/file.h"

#include <gtest/gtest.h>

#include <functional>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(File, ReadsBackWhatItWroteAndLeavesNoTemporaryFile) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tilewright_file_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_text_file(folder / "a.txt", "first");
  write_text_file(folder / "a.txt", std::string(100000, 'x'));
  EXPECT_EQ(read_text_file(folder / "a.txt"), std::string(100000, 'x'));
  EXPECT_EQ(read_file(folder / "a.txt").size(), 100000u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(File, WritesPieceByPieceAndAppearsAtCommitOnly) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tilewright_file_writer_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string all;
  {
    FileWriter dropped(folder / "dropped");
    FileWriter writer(folder / "kept");
    for (int i = 0; i < 50000; ++i) {
      const std::string piece = std::to_string(i) + "\n";
      all += piece;
      writer.append(piece);
      dropped.append(piece);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "kept"));
    writer.commit();
  }
  EXPECT_EQ(read_text_file(folder / "kept"), all);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(File, NamesTheFileAndTheReason) {
  EXPECT_EQ(error_of([] { read_text_file("/nowhere/a"); }),
            "cannot open '/nowhere/a': No such file or directory");
  EXPECT_EQ(error_of([] { read_text_file("/tmp"); }), "cannot read '/tmp': it is a folder");
  EXPECT_EQ(error_of([] { write_text_file("/nowhere/a", "x"); }),
            "cannot write '/nowhere/a': No such file or directory; is the folder there and writable?");
  EXPECT_EQ(error_of([] { write_text_file("/dev/full", "x"); }),
            "cannot write '/dev/full': No space left on device; the old file, if any, is unchanged");
}

TEST(File, RefusesWhatIsLargerThanTheLimit) {
  EXPECT_EQ(error_of([] { read_text_file("/dev/zero", 1000); }),
            "'/dev/zero' is larger than the 1000 bytes read here");
}

TEST(File, CreatesFoldersOrSaysWhyNot) {
  const auto root = std::filesystem::path(testing::TempDir()) / "tilewright_folder_test";
  std::filesystem::remove_all(root);
  create_folder(root / "a/b");
  create_folder(root / "a/b");
  EXPECT_TRUE(std::filesystem::is_directory(root / "a/b"));
  write_text_file(root / "file", "x");
  for (const char* bad : {"file", "file/c"}) {
    try {
      create_folder(root / bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cannot create folder '" + (root / bad).string() + "'"),
                std::string::npos)
          << error.what();
    }
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tilewright
