//===- PtxasTest.cpp - What ptxas refuses, the emulator refuses -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two tables of what ptxas 13.0 takes and refuses. Where that ptxas is found
// (PTXAS, or on the PATH, or in /usr/local/cuda), the tables are held against
// it as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Emulator.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace attn::runtime;

namespace {

struct Row {
  bool accepted;
  std::string text;
};

std::vector<Row> readTable(const std::string &name) {
  std::ifstream file(std::string(ATTN_TEST_SOURCE_DIR) + "/Inputs/" + name);
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);)
    if (line.size() > 2 && line[0] != '#')
      rows.push_back({line[0] == '+', line.substr(2)});
  return rows;
}

const std::string header = ".version 8.6\n.target sm_90a\n.address_size 64\n";
const std::string registers =
    ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<90>;\n"
    ".reg .f32 %f<90>;\n.reg .b64 %d<20>;\n.reg .f64 %e<10>;\n";

/// Each instruction is a line of its own.
std::string around(const std::string &instructions) {
  return header +
         ".global .align 16 .b8 gl[256];\n.shared .align 1024 .b8 sm[4096];\n"
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 in)\n"
         ".maxntid 128, 1, 1\n{\n" +
         registers + instructions + "L1:\nret;\n}\n";
}
const size_t firstLine = 15;

/// `name text`, with line ends and the usual beginnings put in.
std::string moduleText(const std::string &row) {
  std::string text = row.substr(row.find(' ') + 1);
  auto replace = [&](const std::string &name, const std::string &by) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;
         at += by.size())
      text.replace(at, name.size(), by);
  };
  replace("\\n", "\n");
  replace("\\f", "\f");
  replace("\\v", "\v");
  replace("\\\\", "\\");
  replace("$registers", registers);
  replace("$header", header);
  return text + "\n";
}

bool emulatorTakes(const std::string &text, std::string &message) {
  // A module must not outlive its device.
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  Expected<std::unique_ptr<Module>> module = device->load(text);
  message = module ? "" : module.status().message();
  return static_cast<bool>(module);
}

struct Answer {
  int status = 0;
  std::string output;
};

Answer runCommand(const std::string &command) {
  Answer answer;
  std::FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    answer.output.append(buffer, count);
  answer.status = pclose(pipe);
  return answer;
}

/// The ptxas that the tables are of, or nothing.
std::string findPtxas() {
  const char *given = std::getenv("PTXAS");
  for (std::string path :
       {std::string(given ? given : ""), std::string("ptxas"),
        std::string("/usr/local/cuda/bin/ptxas")}) {
    if (path.empty())
      continue;
    Answer answer = runCommand("'" + path + "' --version");
    if (answer.output.find("release 13.0") != std::string::npos)
      return path;
  }
  return {};
}

Answer runPtxas(const std::string &ptxas, const std::string &text,
                const std::string &target = "sm_90a") {
  std::string path =
      testing::TempDir() + "ptxas-test-" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << text;
  Answer answer = runCommand("'" + ptxas + "' -O0 -arch=" + target + " -o " +
                             "/dev/null " + path);
  std::remove(path.c_str());
  return answer;
}

TEST(Ptxas, InstructionsAreTakenAlike) {
  std::vector<Row> rows = readTable("instructions.txt");
  ASSERT_GT(rows.size(), 500u);
  for (const Row &row : rows) {
    std::string message;
    EXPECT_EQ(emulatorTakes(around(row.text + "\n"), message), row.accepted)
        << row.text << ": " << message;
    if (!row.accepted)
      EXPECT_EQ(message.find("ptx line "), 0u) << row.text << ": " << message;
  }
}

TEST(Ptxas, ModulesAreTakenAlike) {
  std::vector<Row> rows = readTable("modules.txt");
  ASSERT_GT(rows.size(), 150u);
  for (const Row &row : rows) {
    std::string message;
    EXPECT_EQ(emulatorTakes(moduleText(row.text), message), row.accepted)
        << row.text << ": " << message;
  }
}

TEST(Ptxas, VersionsAndTargetsAreTakenAlike) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas 13.0";
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90",
                             "sm_90a", "sm_100a", "sm_120a", "sm_91", "sm_80a"})
    for (const char *version : {"6.2", "6.3", "7.0", "7.1", "7.7", "7.8", "7.9",
                                "8.0", "8.5", "8.6", "8.7", "9.0", "9.1"}) {
      std::string text = std::string(".version ") + version + "\n.target " +
                         target + "\n.visible .entry k() { ret; }\n";
      std::string message;
      EXPECT_EQ(emulatorTakes(text, message),
                runPtxas(ptxas, text, target).status == 0)
          << text << message;
    }
}

/// Refused lines are dropped until there is nothing left to refuse: an error of
/// syntax ends a run of ptxas, others are all named at once.
TEST(Ptxas, RefusesTheInstructionsOfTheTable) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas 13.0";
  std::vector<Row> rows = readTable("instructions.txt");
  std::vector<bool> refused(rows.size(), false);
  for (bool done = false; !done;) {
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i)
      text += (refused[i] ? std::string() : rows[i].text) + "\n";
    Answer answer = runPtxas(ptxas, around(text));
    done = true;
    for (size_t at = 0;
         (at = answer.output.find("line ", at)) != std::string::npos; ++at) {
      // An address that is too short is a warning "on line '50'", and an end.
      bool isQuoted = answer.output[at + 5] == '\'';
      char *end = nullptr;
      size_t line = std::strtoul(
          answer.output.c_str() + at + (isQuoted ? 6 : 5), &end, 10);
      size_t index = line - firstLine;
      std::string_view rest(end);
      bool isError = isQuoted || rest.substr(0, 7) == "; error" ||
                     rest.substr(0, 7) == "; fatal";
      if (!isError || index >= rows.size() || refused[index])
        continue;
      refused[index] = true;
      done = false;
    }
    // Not its status: some of them in a row are too much for its later stages.
    if (done)
      EXPECT_EQ(answer.output.find("; error"), std::string::npos)
          << answer.output;
  }
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(!refused[i], rows[i].accepted) << rows[i].text;
}

TEST(Ptxas, RefusesTheModulesOfTheTable) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas 13.0";
  for (const Row &row : readTable("modules.txt"))
    EXPECT_EQ(runPtxas(ptxas, moduleText(row.text)).status == 0, row.accepted)
        << row.text;
}

} // namespace
