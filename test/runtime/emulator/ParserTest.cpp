//===- ParserTest.cpp - What is no PTX, or none that we know --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>
#include <ostream>

using namespace attn::test;

namespace {

struct ErrorCase {
  const char *name;
  const char *body;
  const char *message;
};

void PrintTo(const ErrorCase &c, std::ostream *stream) { *stream << c.name; }

class BodyError : public testing::TestWithParam<ErrorCase> {};

TEST_P(BodyError, IsNamedWithItsLine) {
  KernelResult result = runKernel(GetParam().body);
  EXPECT_EQ(result.status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(result.status.message().find(GetParam().message), std::string::npos)
      << result.status.message();
  EXPECT_EQ(result.status.message().find("ptx line "), 0u)
      << result.status.message();
}

const ErrorCase bodyErrors[] = {
    {"UnknownInstruction", "frobnicate.u32 %r0, %r1;",
     "unknown instruction 'frobnicate'"},
    {"UnknownModifier", "shl.b32.sat %r0, %r1, 1;",
     "unknown modifier '.sat' of 'shl'"},
    {"UnsupportedRounding", "add.rz.f32 %r0, %r1, %r2;",
     "expected a type in 'add', but got '.rz'"},
    {"UnsupportedType", "shl.f32 %r0, %r1, 1;",
     "unsupported type '.f32' of 'shl'"},
    {"MissingType", "add %r0, %r1, %r2;", "expected a type in 'add'"},
    {"UndefinedRegister", "mov.u32 %nothing, 1;",
     "undefined register '%nothing'"},
    {"UndefinedName", "mov.u32 %r0, nothing;", "undefined name 'nothing'"},
    {"UndefinedLabel", "bra NOWHERE;", "undefined label 'NOWHERE'"},
    {"LabelOfAnotherScope", "{ L: } bra L;", "undefined label 'L'"},
    {"RegisterIndexTooLarge", "mov.u32 %r200, 1;", "'%r200'"},
    {"WidthMismatch", "add.u32 %r0, %r1, %d2;",
     "expected a register of 32 bits, but got '%d2' of 64"},
    {"PredicateExpected", "selp.u32 %r0, %r1, %r2, %r3;",
     "expected a register of type '.pred'"},
    {"ValueExpected", "add.u32 %r0, %p1, %r2;",
     "but got '%p1' of type '.pred'"},
    {"GuardIsNoPredicate", "@%r0 mov.u32 %r1, 0;",
     "expected a predicate, but got '%r0'"},
    {"TooFewOperands", "add.u32 %r0, %r1;", "too few operands of 'add'"},
    {"TooManyOperands", "add.u32 %r0, %r1, %r2, %r3;",
     "expected 3 operands of 'add', but got 4"},
    {"StoreToImmediate", "add.u32 5, %r1, %r2;", "expected a register"},
    {"FloatImmediateOfInteger", "add.u32 %r0, %r1, 1.5;",
     "expected an operand of type '.u32'"},
    {"VectorLength", "ld.global.v4.u32 {%r0, %r1}, [%in];",
     "expected a vector of 4 operands, but got 2"},
    {"AddressExpected", "ld.global.u32 %r0, %in;", "expected an address"},
    {"MissingSemicolon", "mov.u32 %r0, 1", "expected ','"},
    {"UnclosedBracket", "ld.global.u32 %r0, [%in;", "expected ']'"},
    {"BadNumber", "mov.u32 %r0, 0x;", "expected an operand"},
    {"ShortFloatBits", "mov.b32 %r0, 0f3F80;", "expected an operand"},
    {"RegisterTwice", ".reg .b32 %r<5>;", "declared twice"},
    {"LabelTwice", "L: L: ret;", "label 'L' is defined twice"},
    {"WgmmaShape",
     "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0}, %d0, %d0, 1, "
     "1, 1, 0, 0;",
     "unsupported shape '.m64n12k16' of 'wgmma'"},
    {"WgmmaType",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.e4m3.e4m3 {%f0}, %d0, %d0, 1, "
     "1, 1, 0, 0;",
     "expected a type in 'wgmma', but got '.e4m3'"},
    {"SetmaxnregNotMultiple", "setmaxnreg.inc.sync.aligned.u32 100;",
     "expected a multiple of 8 registers, but got 100"},
    {"Call", "call foo;", "unknown instruction 'call'"},
    {"UnknownDirective", ".frob 5;", "unknown directive '.frob'"},
    {"OperandsTooDeep", "mov.u32 {{{{{{{%r0}}}}}}}, 1;", "nested too deeply"},
};

INSTANTIATE_TEST_SUITE_P(All, BodyError, testing::ValuesIn(bodyErrors),
                         [](const auto &info) { return info.param.name; });

struct ModuleError {
  const char *text;
  const char *message;
};

TEST(ModuleErrors, AreNamed) {
  const ModuleError cases[] = {
      {"", "expected a .version directive"},
      {".version 8.6", "expected a .target directive"},
      {".version x", "expected a version"},
      {".version 99.9 .target sm_90a", "expected a version from 1.0 to 9.0"},
      {".version 7.9 .target sm_80", "expected a version from 1.0 to 9.0"},
      {".version 7.8 .target sm_90a",
       "expected a .version of at least 8.0 for target 'sm_90a'"},
      {".version 8.6 .target sm_91", "unknown target 'sm_91'"},
      {".version 8.8 .target sm_90a .address_size 32",
       "expected .address_size 64"},
      {".version 8.8 .target sm_90a .bogus", "unknown directive '.bogus'"},
      {".version 8.8 .target sm_90a .visible .entry k( .param .u32",
       "a parameter name"},
      {".version 8.8 .target sm_90a .entry k() {",
       "expected '}', but got the end"},
      {".version 8.8 .target sm_90a .entry k() { .reg .b32 %r<99999999>; }",
       "a register count of at most"},
      {".version 8.8 .target sm_90a .global .align 3 .b8 x[4];",
       "a power of two"},
      {".version 8.8 .target sm_90a .global .b8 x[9999999999];",
       "an array size of at most"},
      {".version 8.8 .target sm_90a .global .b8 x[2] = {1, 2, 3};",
       "initializer is larger than the variable"},
      {".version 8.8 .target sm_90a .entry k() { .reg .b32 x; .reg .b32 x; }",
       "declared twice"},
      {".version 8.8 .target sm_90a .entry k() { ret; } .entry k() { ret; }",
       "entry 'k' is defined twice"},
      {".version 8.8 .target sm_90a /* never closed", "expected a directive"},
      {".version 8.8 .target sm_90a .entry k() .maxntid 1, 1, 1 .frob { ret; }",
       "unknown function directive '.frob'"},
  };
  for (const ModuleError &c : cases) {
    std::unique_ptr<EmulatorDevice> device = createEmulator();
    Expected<std::unique_ptr<Module>> module = device->load(c.text);
    EXPECT_EQ(static_cast<bool>(module), c.message == nullptr) << c.text;
    if (!module && c.message) {
      EXPECT_NE(module.status().message().find(c.message), std::string::npos)
          << c.text << ": " << module.status().message();
    }
  }
}

TEST(ModuleErrors, InstructionsOfAnotherTarget) {
  const ModuleError cases[] = {
      {".version 8.8 .target sm_80 .entry k() { wgmma.fence.sync.aligned; }",
       "'wgmma' needs target 'sm_90a', but the module is for 'sm_80'"},
      {".version 8.8 .target sm_100a .entry k() { wgmma.fence.sync.aligned; }",
       "'wgmma' needs target 'sm_90a'"},
      {".version 8.8 .target sm_80 .entry k() { cp.async.bulk.commit_group; }",
       "'cp' needs target sm_90 or later, but the module is for 'sm_80'"},
      {".version 8.8 .target sm_75 .entry k() { cp.async.commit_group; }",
       "'cp' needs target sm_80 or later"},
      {".version 8.8 .target sm_89 .entry k() { cp.async.commit_group; }",
       nullptr},
      {".version 8.8 .target sm_100a .entry k() { cp.async.bulk.commit_group; "
       "}",
       nullptr},
      {".version 8.8 .target sm_ .entry k() { cp.async.commit_group; }",
       "unknown target 'sm_'"},
  };
  for (const ModuleError &c : cases) {
    std::unique_ptr<EmulatorDevice> device = createEmulator();
    Expected<std::unique_ptr<Module>> module = device->load(c.text);
    EXPECT_EQ(static_cast<bool>(module), c.message == nullptr) << c.text;
    if (!module && c.message) {
      EXPECT_NE(module.status().message().find(c.message), std::string::npos)
          << module.status().message();
    }
  }
}

TEST(Parser, LinesCountCommentsAndAssembly) {
  KernelResult result = runKernel("// one\n/* two\n three */\nmov.u32 %x, 1;");
  // The body starts on the line after 29 of the frame.
  size_t at = result.status.message().find("ptx line ");
  ASSERT_NE(at, std::string::npos) << result.status.message();
  KernelResult first = runKernel("mov.u32 %x, 1;");
  auto line = [](const Status &status) {
    return std::stoi(
        status.message().substr(status.message().find("line ") + 5));
  };
  EXPECT_EQ(line(result.status), line(first.status) + 3);
}

TEST(Parser, AcceptsWhatLlvmPrints) {
  std::string text =
      "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.6\n"
      ".target sm_90a\n.address_size 64\n\n"
      "\t// Start of file scope inline assembly\n.pragma \"nounroll\";\n"
      "\t// End of file scope inline assembly\n\t// .globl\tk\n"
      ".extern .func  (.param .b32 func_retval0) vprintf\n(\n"
      "\t.param .b64 vprintf_param_0,\n\t.param .b64 vprintf_param_1\n)\n;\n"
      ".weak .global .align 8 .b8 data[16] = {1, 0xFF, 2};\n"
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 1 k_param_0\n)\n"
      ".reqntid 32, 1, 1\n.minnctapersm 1\n{\n"
      "\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<3>;\n"
      "\t.loc\t1 5 0\n\tmov.u32 \t%r1, %tid.x;\n"
      "\t.pragma \"nounroll\";\n$L__BB0_1:\n\tret;\n\t// -- End function\n}\n"
      ".file\t1 \"a.mlir\"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n\t}\n";
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  Expected<std::unique_ptr<Module>> module = device->load(text);
  EXPECT_TRUE(module) << module.status().message();
}

} // namespace
