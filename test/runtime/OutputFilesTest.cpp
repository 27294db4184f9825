//===- OutputFilesTest.cpp - Tests of what is written, and what is kept ---===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/OutputFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace attnc;
using attn::runtime::Status;
using attn::runtime::StatusCode;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each test.
class OutputFiles : public testing::Test {
protected:
  OutputFiles() {
    folder = fs::path(testing::TempDir()) /
             (std::string("outputs-") +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~OutputFiles() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return folder / name; }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(at(name)) << text;
  }
  std::string get(const std::string &name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Everything below, temporary files included.
  std::set<std::string> list() const {
    std::set<std::string> names;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      names.insert(fs::relative(entry.path(), folder));
    return names;
  }

  fs::path folder;
};

using Names = std::set<std::string>;

void expectRefused(const Status &status, const std::string &part) {
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << part;
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

} // namespace

TEST_F(OutputFiles, AllAppear) {
  ASSERT_TRUE(
      writeFiles({{at("a"), "1"}, {at("new/deep/b"), "2"}, {at("a2"), ""}})
          .isOk());
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("new/deep/b"), "2");
  EXPECT_EQ(list(), (Names{"a", "a2", "new", "new/deep", "new/deep/b"}));
}

TEST_F(OutputFiles, TheUsersMaskSetsTheModes) {
  for (mode_t mask : {0022, 0027, 0002, 0077}) {
    mode_t before = umask(mask);
    std::string name = std::to_string(mask);
    EXPECT_TRUE(writeFiles({{at(name + "/file"), ""}}).isOk());
    umask(before);
    struct stat info;
    ASSERT_EQ(stat(at(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0777 & ~mask);
    ASSERT_EQ(stat(at(name + "/file").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
  }
}

TEST_F(OutputFiles, NoneAppearsWhereOneCannot) {
  fs::create_directory(at("taken"));
  put("old", "old");
  const std::vector<OutputFile> failing[] = {
      {{at("x"), "1"}, {at("taken"), "2"}},
      {{at("x"), "1"}, {at("old/y"), "2"}},
      {{at("new/x"), "1"}, {"/dev/full", "2"}},
      // What is found out only by renaming: a file in place of a folder.
      {{at("old"), "1"}, {at("x"), "1"}, {at("z"), "1"}, {at("z/y"), "2"}},
  };
  for (const auto &files : failing) {
    expectRefused(writeFiles(files), "expected to write '");
    EXPECT_EQ(list(), (Names{"old", "taken"}));
    EXPECT_EQ(get("old"), "old");
  }
}

TEST_F(OutputFiles, LinksAreFollowed) {
  put("old", "old");
  fs::create_symlink("old", at("link"));
  ASSERT_TRUE(writeFiles({{at("link"), "new"}}).isOk());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(get("old"), "new");
}

TEST_F(OutputFiles, SpecialFilesStayWhatTheyAre) {
  // Through links of our own, so that a mistake replaces these.
  for (auto [device, isOk] : {std::make_pair("/dev/null", true),
                              std::make_pair("/dev/full", false)}) {
    fs::create_symlink(device, at("link"));
    EXPECT_EQ(writeFiles({{at("link"), "text"}}).isOk(), isOk) << device;
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_TRUE(fs::is_character_file(at("link")));
    fs::remove(at("link"));
  }
}

TEST_F(OutputFiles, LongNamesFit) {
  std::string name(255, 'x');
  EXPECT_TRUE(checkOutputs({{"-o", at(name)}}, {}).isOk());
  EXPECT_TRUE(writeFiles({{at(name), "1"}}).isOk());
  expectRefused(checkOutputs({{"-o", at(name + "x")}}, {}), "too long");
}

TEST_F(OutputFiles, NoInputIsAnOutput) {
  put("in", "input");
  fs::create_directory(at("folder"));
  fs::create_symlink("in", at("soft"));
  fs::create_hard_link(at("in"), at("hard"));
  fs::create_directory_symlink("folder", at("way"));
  for (const char *name : {"in", "soft", "hard", "./in", "folder/../in",
                           "way/../in", "folder/../soft"}) {
    expectRefused(checkOutputs({{"-o", at(name)}}, {{"--in", at("in")}}),
                  "-o: expected a file that is no input, but got '");
    expectRefused(checkOutputs({{"-o", at("in")}}, {{"--in", at(name)}}),
                  "(--in)");
  }
  EXPECT_TRUE(checkOutputs({{"-o", at("other")}}, {{"--in", at("in")}}).isOk());
  EXPECT_EQ(get("in"), "input");
}

TEST_F(OutputFiles, RelativePathsAreTheSameFile) {
  put("in", "input");
  fs::path before = fs::current_path();
  fs::current_path(folder);
  Status status = checkOutputs({{"-o", "in"}}, {{"--in", at("in")}});
  Status other = checkOutputs({{"-o", "in"}, {"-o", at("in")}}, {});
  fs::current_path(before);
  expectRefused(status, "no input");
  expectRefused(other, "a file for each result");
}

TEST_F(OutputFiles, NoFileHoldsTwoResults) {
  put("old", "");
  fs::create_hard_link(at("old"), at("hard"));
  fs::create_directory(at("folder"));
  fs::create_directory_symlink("folder", at("way"));
  for (auto [a, b] : {std::make_pair("x", "./x"), std::make_pair("old", "hard"),
                      std::make_pair("folder/x", "way/x")})
    expectRefused(checkOutputs({{"--out", at(a)}, {"--out", at(b)}}, {}),
                  "--out: expected a file for each result, but got '");
  EXPECT_TRUE(checkOutputs({{"--out", "/dev/null"}, {"--out", "/dev/null"}}, {})
                  .isOk());
}

TEST_F(OutputFiles, ACheckSaysWhatCannotBeWritten) {
  put("file", "");
  for (const char *name : {"", "file/x", "file/x/y", "."})
    expectRefused(checkOutputs({{"--out", at(name)}}, {}),
                  "--out: expected to write '");
  EXPECT_TRUE(checkOutputs({{"--out", at("new/deep/x")}}, {}).isOk());
  // And leaves nothing behind.
  EXPECT_EQ(list(), Names{"file"});
}

TEST_F(OutputFiles, WhatTheUserMayNotWriteIsRefused) {
  if (geteuid() == 0)
    GTEST_SKIP() << "the superuser may write everything";
  put("fixed", "old");
  fs::permissions(at("fixed"), fs::perms::owner_read);
  expectRefused(checkOutputs({{"--out", at("fixed")}}, {}), "denied");
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  expectRefused(checkOutputs({{"--out", at("x")}}, {}), "denied");
  fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(OutputFiles, DumpsLeaveOtherFilesAlone) {
  put("00-attn.mlir", "input");
  put("plain.mlir", "input");
  fs::create_hard_link(at("plain.mlir"), at("03-nvvm.mlir"));
  std::string dump = folder;
  for (const char *name : {"00-attn.mlir", "./00-attn.mlir", "plain.mlir",
                           "03-nvvm.mlir", "05-not-there-yet.ptx"})
    expectRefused(checkDumpFolder(dump, {{"the input", at(name)}}),
                  "--dump-to: ");
  EXPECT_TRUE(checkDumpFolder(dump, {{"-o", at("k.ptx")}}).isOk());
  EXPECT_TRUE(checkDumpFolder(at("new"), {{"-o", at("00-attn.mlir")}}).isOk());
}
