#include "tilewright/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/error_text_testing.h"

namespace tilewright {
namespace {

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

TEST(File, NewFilesFollowTheUmaskAndOthersKeepTheirPermissions) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tilewright_file_modes_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto mode_of = [](const std::filesystem::path& file) {
    return unsigned(std::filesystem::status(file).permissions());
  };
  const mode_t usual = ::umask(0);
  for (const unsigned mask : {0u, 022u, 027u, 077u}) {
    ::umask(mask);
    const auto file = folder / std::to_string(mask);
    write_text_file(file, "x");
    EXPECT_EQ(mode_of(file), 0666u & ~mask);
    std::filesystem::permissions(file, std::filesystem::perms(0640));
    write_text_file(file, "y");
    EXPECT_EQ(mode_of(file), 0640u);
  }
  ::umask(usual);
}

TEST(File, LinksStayAndWhatTheyNameIsWritten) {
  namespace fs = std::filesystem;
  const auto folder = fs::path(testing::TempDir()) / "tilewright_file_links_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "there");
  fs::create_symlink("there/file", folder / "link");
  fs::create_symlink(folder / "link", folder / "there/second");
  std::string text;
  for (const char* name : {"link", "there/second", "link"}) {  // at first there is no file
    text += name;
    write_text_file(folder / name, text);
    EXPECT_EQ(read_text_file(folder / "there/file"), text);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "there/file")));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_TRUE(fs::is_symlink(folder / "there/second"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "there"), {}), 2);
  fs::create_symlink("round", folder / "round");
  EXPECT_EQ(error_text([&] { write_text_file(folder / "round", "x"); }),
            "cannot write '" + (folder / "round").string() + "': Too many levels of symbolic links");
  fs::remove_all(folder);
}

// As /dev/stdout is one where the output goes to a file: what was written stays, and what is written later
// comes after it.
TEST(File, DescriptorsAreWrittenToWhereTheyStand) {
  namespace fs = std::filesystem;
  const auto folder = fs::path(testing::TempDir()) / "tilewright_file_descriptors_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const int fd = ::open((folder / "captured").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  const std::string number = std::to_string(fd);
  fs::create_symlink("/proc/self/fd/" + number, folder / "link");
  std::string text;
  for (const fs::path& name :
       {folder / "link", fs::path("/dev/fd/" + number), fs::path("/proc/self/fd/" + number)}) {
    write_text_file(name, name.string());
    ASSERT_EQ(::write(fd, "later", 5), 5);
    text += name.string() + "later";
    EXPECT_EQ(read_text_file(folder / "captured"), text);
  }
  ::close(fd);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  fs::remove_all(folder);
}

TEST(File, NamesTheFileAndTheReason) {
  EXPECT_EQ(
      error_text([] { read_text_file("/nowhere/a"); }),
      "cannot open '/nowhere/a': No such file or directory; there is no folder '/nowhere'; check the path");
  EXPECT_EQ(error_text([] { read_text_file("/tmp"); }), "cannot read '/tmp': it is a folder");
  EXPECT_EQ(
      error_text([] { write_text_file("/nowhere/a", "x"); }),
      "cannot write '/nowhere/a': No such file or directory; does the folder exist, and is it writable?");
  EXPECT_EQ(error_text([] { write_text_file("/dev/full", "x"); }),
            "cannot write '/dev/full': No space left on device; the old file, if any, is unchanged");
}

TEST(File, RefusesWhatIsLargerThanTheLimit) {
  const auto file = std::filesystem::path(testing::TempDir()) / "tilewright_large_file";
  write_text_file(file, std::string(1001, 'x'));
  EXPECT_EQ(error_text([&] { read_text_file(file, 1000); }),
            "'" + file.string() + "' is larger than the 1000 bytes read here");
  EXPECT_EQ(read_text_file(file, 1001).size(), 1001u);
  EXPECT_EQ(read_file_start(file, 7).size(), 7u);
  EXPECT_EQ(read_file_start(file, 2000).size(), 1001u);
  // As large as no memory, but only its start is wanted.
  std::filesystem::resize_file(file, uintmax_t{1} << 42);
  EXPECT_EQ(read_file_start(file, 3), (std::vector<std::byte>(3, std::byte{'x'})));
  std::filesystem::remove(file);
}

TEST(File, RefusesDevicesAndNamedPipesAtOnce) {
  const std::string why =
      "it is not a regular file; devices and named pipes cannot be read; read a pipe as /dev/stdin";
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/urandom"}) {
    EXPECT_EQ(error_text([&] { read_file(device); }), "cannot read '" + std::string(device) + "': " + why);
    EXPECT_EQ(error_text([&] { read_file_start(device, 1); }),
              "cannot read '" + std::string(device) + "': " + why);
  }
  const auto pipe = std::filesystem::path(testing::TempDir()) / "tilewright_named_pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_text([&] { read_text_file(pipe); }), "cannot read '" + pipe.string() + "': " + why);
  std::filesystem::remove(pipe);
}

TEST(File, ReadsPipesThatAreOpenAlready) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) {
      const std::string line(997, char('a' + i % 26));
      ASSERT_EQ(::write(ends[1], line.data(), line.size()), ssize_t(line.size()));
      if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])).size(), 997000u);
  writer.join();
  ::close(ends[0]);
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
