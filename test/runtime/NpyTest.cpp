//===- NpyTest.cpp - Tests of .npy files and 16-bit formats ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace attnc;
using namespace attn::runtime;

namespace {

std::string makeFile(const std::string &header, const std::string &data,
                     char version = 1) {
  std::string file("\x93NUMPY", 6);
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1)
    file += std::string(2, '\0');
  return file + header + data;
}

void expectError(const std::string &content, const std::string &part) {
  Expected<NpyArray> array = parseNpy(content);
  ASSERT_FALSE(bool(array)) << part;
  EXPECT_EQ(array.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(array.status().message().find(part), std::string::npos)
      << array.status().message();
}

HostTensor makeTensor(ElementType element, std::vector<int64_t> sizes) {
  TensorSpec spec;
  spec.name = "t";
  spec.element = element;
  return makeHostTensor(spec, sizes);
}

} // namespace

TEST(Npy, ReadsWhatNumPyWrites) {
  // The exact header of numpy.save for this array.
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  header += '\n';
  float values[6] = {0, 1, 2, -3, 4.5f, 5};
  std::string data(reinterpret_cast<char *>(values), sizeof values);
  for (char version : {1, 2}) {
    Expected<NpyArray> array = parseNpy(makeFile(header, data, version));
    ASSERT_TRUE(bool(array)) << array.status().message();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array->load(3), -3);
    EXPECT_EQ(array->load(4), 4.5);
  }
}

TEST(Npy, Dtypes) {
  auto load = [](const char *dtype, const void *value, size_t size) {
    Expected<NpyArray> array =
        parseNpy(makeFile(std::string("{'descr': '") + dtype +
                              "', 'fortran_order': False, 'shape': (1,), }\n",
                          std::string(static_cast<const char *>(value), size)));
    return array ? array->load(0) : std::nan("");
  };
  uint16_t half = 0x3e00;
  double wide = 0.1;
  int32_t word = -7;
  int64_t longWord = int64_t(1) << 40;
  uint8_t byte = 1;
  EXPECT_EQ(load("<f2", &half, 2), 1.5);
  EXPECT_EQ(load("<f8", &wide, 8), 0.1);
  EXPECT_EQ(load("<i4", &word, 4), -7);
  EXPECT_EQ(load("<i8", &longWord, 8), double(longWord));
  EXPECT_EQ(load("|b1", &byte, 1), 1);
  EXPECT_EQ(load("|u1", &byte, 1), 1);
}

TEST(Npy, ScalarAndEmptyShapes) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  EXPECT_TRUE(bool(parseNpy(makeFile(header + "(), }", "abcd"))));
  EXPECT_TRUE(bool(parseNpy(makeFile(header + "(3, 0, 5), }", ""))));
}

TEST(Npy, Malformed) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  expectError("", "another kind of file");
  expectError("\x93NUMPX\x01", "another kind of file");
  expectError(makeFile(header + "(1,), }", "abc"), "4 bytes of data");
  expectError(makeFile(header + "(1,), }", "abcde"), "but got 5");
  expectError(makeFile(header + "(1,), }", "abcd").substr(0, 20), "header");
  expectError(makeFile(header + "(-1,), }", ""), "a size of at least 0");
  expectError(makeFile(header + "(1 2), }", ""), "','");
  expectError(makeFile(header + "(4611686018427387904, 9), }", ""), "fewer");
  expectError(makeFile(header + "(1,)", ""), "'}'");
  expectError(makeFile("", ""), "'{'");
  expectError(makeFile("{'descr': '<f4'}", ""), "without");
  expectError(makeFile("{'descr': '<f4', 'x': 1}", ""), "but got 'x'");
  expectError(
      makeFile("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", ""),
      "fortran_order True or False");
  // float8 of ml_dtypes, and a record of two.
  expectError(
      makeFile("{'descr': '<V1', 'fortran_order': False, 'shape': ()}", "a"),
      "'<V1'");
  expectError(
      makeFile("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", ""),
      "'>f4'");
  expectError(makeFile("{'descr': [('a', '<f4')]}", ""), "a simple dtype");
  expectError(makeFile(header + "(1,), }", "abcd", 9), "version");
}

TEST(Npy, RoundTrip) {
  HostTensor tensor = makeTensor(ElementType::BF16, {2, 3});
  for (int i = 0; i < 6; ++i)
    tensor.store(i, i * 0.25 - 1);
  Expected<NpyArray> array = parseNpy(printNpy(tensor));
  ASSERT_TRUE(bool(array)) << array.status().message();
  EXPECT_EQ(array->dtype, "<f4");
  EXPECT_EQ(array->shape, tensor.sizes);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(array->load(i), i * 0.25 - 1);
  EXPECT_FALSE(bool(readNpy("/no/such.npy")));
}

TEST(Npy, DoublesStayDoubles) {
  HostTensor tensor = makeTensor(ElementType::F64, {2});
  tensor.store(0, 0.1);
  tensor.store(1, 1e300);
  Expected<NpyArray> array = parseNpy(printNpy(tensor));
  ASSERT_TRUE(bool(array)) << array.status().message();
  EXPECT_EQ(array->dtype, "<f8");
  EXPECT_EQ(array->load(0), 0.1);
  EXPECT_EQ(array->load(1), 1e300);
}

namespace {

/// 1.5 and -2 in bf16, a NaN with bits of its own, and 1/3 rounded to bf16.
const uint16_t kBF16Bits[4] = {0x3fc0, 0xc000, 0x7fa5, 0x3eab};
/// The same in f16, but for another NaN.
const uint16_t kF16Bits[4] = {0x3e00, 0xc000, 0x7d01, 0x3555};

/// A 2 x 2 array of 16 bits an element.
NpyArray array16(const char *dtype, const uint16_t *bits,
                 const char *order = "False") {
  std::string header = std::string("{'descr': '") + dtype +
                       "', 'fortran_order': " + order +
                       ", 'shape': (2, 2), }\n";
  Expected<NpyArray> array = parseNpy(
      makeFile(header, std::string(reinterpret_cast<const char *>(bits), 8)));
  if (array)
    return *array;
  ADD_FAILURE() << array.status().message();
  return {};
}

std::vector<uint16_t> bitsOf(const HostTensor &tensor) {
  std::vector<uint16_t> bits(tensor.count());
  std::memcpy(bits.data(), tensor.data.data(), tensor.data.size());
  return bits;
}

std::vector<uint16_t> stored(const NpyArray &array, ElementType element) {
  HostTensor tensor = makeTensor(element, {2, 2});
  Status status = storeNpy(array, tensor);
  EXPECT_TRUE(status.isOk()) << status.message();
  return bitsOf(tensor);
}

} // namespace

TEST(Npy, BitsOf16BitTypesArriveAsTheyAre) {
  std::vector<uint16_t> bf16(kBF16Bits, kBF16Bits + 4);
  std::vector<uint16_t> f16(kF16Bits, kF16Bits + 4);
  // What ml_dtypes' bfloat16 is written as, by NumPy 1 and 2, and integer
  // views.
  for (const char *dtype : {"<V2", "|V2", "<u2", "<i2"})
    EXPECT_EQ(stored(array16(dtype, kBF16Bits), ElementType::BF16), bf16)
        << dtype;
  for (const char *dtype : {"<u2", "<i2"})
    EXPECT_EQ(stored(array16(dtype, kF16Bits), ElementType::F16), f16) << dtype;
}

TEST(Npy, ValuesAreRoundedToTheOther16BitType) {
  HostTensor tensor = makeTensor(ElementType::F16, {2, 2});
  ASSERT_TRUE(storeNpy(array16("<V2", kBF16Bits), tensor).isOk());
  EXPECT_EQ(tensor.load(0), 1.5);
  EXPECT_EQ(tensor.load(1), -2);
  EXPECT_TRUE(std::isnan(tensor.load(2)));
  EXPECT_NEAR(tensor.load(3), 1 / 3.0, 1e-3);
  tensor = makeTensor(ElementType::BF16, {2, 2});
  ASSERT_TRUE(storeNpy(array16("<f2", kF16Bits), tensor).isOk());
  EXPECT_EQ(tensor.load(0), 1.5);
  EXPECT_EQ(tensor.load(1), -2);
  EXPECT_TRUE(std::isnan(tensor.load(2)));
  EXPECT_EQ(bitsOf(tensor)[3], 0x3eab);
}

TEST(Npy, Words) {
  HostTensor tensor = makeTensor(ElementType::I32, {2, 2});
  const uint16_t words[4] = {0, 1, 7, 0xffff};
  ASSERT_TRUE(storeNpy(array16("<u2", words), tensor).isOk());
  EXPECT_EQ(tensor.load(3), 65535);
  ASSERT_TRUE(storeNpy(array16("<i2", words), tensor).isOk());
  EXPECT_EQ(tensor.load(3), -1);
  // Of a wide type they are neither bits nor, by any likelihood, values.
  tensor = makeTensor(ElementType::F32, {2, 2});
  Status status = storeNpy(array16("<u2", words), tensor);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("--in: expected t in a type of"),
            std::string::npos)
      << status.message();
}

TEST(Npy, FortranOrder) {
  EXPECT_EQ(stored(array16("<u2", kF16Bits, "True"), ElementType::F16),
            (std::vector<uint16_t>{kF16Bits[0], kF16Bits[2], kF16Bits[1],
                                   kF16Bits[3]}));
  // Element (i, j, k) of 2 x 3 x 4 is 100 i + 10 j + k.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        data += static_cast<char>(100 * i + 10 * j + k);
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': ";
  Expected<NpyArray> array = parseNpy(makeFile(header + "(2, 3, 4), }", data));
  ASSERT_TRUE(bool(array)) << array.status().message();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(array->load((i * 3 + j) * 4 + k), 100 * i + 10 * j + k);
  EXPECT_TRUE(bool(parseNpy(makeFile(header + "(3, 0, 5), }", ""))));
  EXPECT_TRUE(bool(parseNpy(makeFile(header + "(), }", "a"))));
}

TEST(Rounding, ToEveryFormat) {
  double value = 1 + 0x1p-9 + 0x1p-30;
  EXPECT_EQ(roundTo(value, kBF16), 1);
  EXPECT_EQ(roundTo(value, kF16), 1 + 0x1p-9);
  EXPECT_EQ(roundTo(value + 0x1p-25, kF32), value - 0x1p-30);
  EXPECT_EQ(roundTo(value, kF64), value);
  EXPECT_EQ(halfUlp(1, kF32), 0x1p-24);
  EXPECT_EQ(halfUlp(1, kF64), 0x1p-53);
}

TEST(Rounding, EveryHalfSurvives) {
  for (FloatFormat format : {kF16, kBF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      float value = decode16(bits, format);
      uint16_t back = encode16(value, format);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode16(back, format)));
      else
        EXPECT_EQ(back, bits);
    }
}

/// Halfway between two neighbours goes to the even one, and anything off the
/// middle to the nearer one: for every pair of neighbours.
TEST(Rounding, TiesToEven) {
  for (FloatFormat format : {kF16, kBF16}) {
    uint32_t infinity = ((1 << format.exponentBits) - 1) << format.mantissaBits;
    for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
      double low = decode16(bits, format), high = decode16(bits + 1, format);
      double middle = (low + high) / 2;
      EXPECT_EQ(encode16(middle, format), bits + (bits & 1));
      EXPECT_EQ(encode16(std::nextafter(middle, low), format), bits);
      EXPECT_EQ(encode16(std::nextafter(middle, high), format), bits + 1);
      EXPECT_EQ(encode16(-middle, format), 0x8000 | (bits + (bits & 1)));
      EXPECT_EQ(halfUlp(low, format), middle - low);
    }
  }
}

TEST(Rounding, Overflow) {
  EXPECT_EQ(encode16(65519, kF16), 0x7bff);
  EXPECT_EQ(encode16(65520, kF16), 0x7c00);
  EXPECT_EQ(encode16(1e300, kBF16), 0x7f80);
  EXPECT_EQ(encode16(-std::numeric_limits<double>::infinity(), kF16), 0xfc00);
  EXPECT_EQ(encode16(1e-300, kF16), 0);
}

TEST(Rounding, MantissaAloneAgreesInRange) {
  for (FloatFormat format : {kF16, kBF16})
    for (float value : {1.0f, 1.00048828125f, 3.14159f, -0.3333333f, 1000.7f})
      EXPECT_EQ(roundMantissa(value, format),
                decode16(encode16(value, format), format));
  EXPECT_TRUE(std::isnan(roundMantissa(std::nanf(""), kBF16)));
  EXPECT_EQ(roundMantissa(INFINITY, kF16), INFINITY);
  EXPECT_EQ(roundMantissa(1e6f, kF16), 999936.0f); // no overflow
}

TEST(Normal, ReproducibleAndNormal) {
  HostTensor a = makeTensor(ElementType::F32, {100, 1000});
  HostTensor b = a;
  fillNormal(a, 1);
  fillNormal(b, 1);
  EXPECT_EQ(a.data, b.data);
  fillNormal(b, 2);
  EXPECT_NE(a.data, b.data);
  double moments[5] = {};
  for (int64_t i = 0; i < a.count(); ++i)
    for (int m = 1; m <= 4; ++m)
      moments[m] += std::pow(a.load(i), m) / a.count();
  EXPECT_NEAR(moments[1], 0, 0.02);
  EXPECT_NEAR(moments[2], 1, 0.02);
  EXPECT_NEAR(moments[3], 0, 0.05);
  EXPECT_NEAR(moments[4], 3, 0.1);
  // Known values: no platform may differ.
  fillNormal(a, 1);
  EXPECT_NEAR(a.load(0), 0.255475, 1e-6);
  EXPECT_NEAR(a.load(99999), -1.69859, 1e-5);
}
