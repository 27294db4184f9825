//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Npy.h"

#include "runtime/Launch.h"

#include <charconv>
#include <cstring>

namespace attnc {

using attn::runtime::ElementType;
using attn::runtime::Expected;
using attn::runtime::Status;

namespace {

/// Reads the header, a Python literal of one fixed shape:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Status parse(NpyArray &array) {
    if (!accept("{"))
      return error("'{'");
    while (!accept("}")) {
      std::string key;
      if (!quoted(key) || !accept(":"))
        return error("a key");
      if (Status status = parseValue(key, array); !status.isOk())
        return status;
      if (!accept(",")) {
        if (!accept("}"))
          return error("'}'");
        break;
      }
    }
    if (seen_ != 7)
      return Status::invalidArgument(
          "expected a header with descr, fortran_order and shape, but got one "
          "without");
    return Status::ok();
  }

  /// Whether the first dimension is the one along memory.
  bool isFortranOrder() const { return isFortranOrder_; }

private:
  Status error(const std::string &expected) const {
    return Status::invalidArgument("expected " + expected +
                                   " in the header, but got '" +
                                   std::string(text_.substr(at_, 12)) + "'");
  }

  bool accept(std::string_view token) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
    if (text_.substr(at_, token.size()) != token)
      return false;
    at_ += token.size();
    return true;
  }

  bool quoted(std::string &value) {
    if (!accept("'"))
      return false;
    size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos)
      return false;
    value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }

  Status parseValue(const std::string &key, NpyArray &array) {
    if (key == "descr") {
      seen_ |= 1;
      if (!quoted(array.dtype))
        return error("a simple dtype");
      return Status::ok();
    }
    if (key == "fortran_order") {
      seen_ |= 2;
      isFortranOrder_ = accept("True");
      if (isFortranOrder_ || accept("False"))
        return Status::ok();
      return error("fortran_order True or False");
    }
    if (key == "shape") {
      seen_ |= 4;
      return parseShape(array.shape);
    }
    return Status::invalidArgument("expected descr, fortran_order or shape, "
                                   "but got '" +
                                   key + "'");
  }

  Status parseShape(std::vector<int64_t> &shape) {
    if (!accept("("))
      return error("a shape");
    while (!accept(")")) {
      int64_t size = 0;
      accept(""); // skips spaces
      auto [end, code] = std::from_chars(text_.data() + at_,
                                         text_.data() + text_.size(), size);
      if (code != std::errc() || size < 0 || shape.size() >= 32)
        return error("a size of at least 0");
      at_ = end - text_.data();
      shape.push_back(size);
      if (!accept(",") && text_.substr(at_, 1) != ")")
        return error("','");
    }
    return Status::ok();
  }

  std::string_view text_;
  size_t at_ = 0;
  int seen_ = 0;
  bool isFortranOrder_ = false;
};

/// What ml_dtypes' bfloat16 is called in a file. Its other types of 2 bytes are
/// none that a spec has.
bool isBF16(const std::string &dtype) {
  return dtype == "<V2" || dtype == "|V2";
}

/// Integers of 2 bytes: as a view of a 16-bit float, its bits.
bool isWord16(const std::string &dtype) {
  return dtype == "<u2" || dtype == "<i2";
}

size_t itemSize(const std::string &dtype) {
  for (const char *known : {"<f2", "<f4", "<f8", "<V2", "|V2", "<u2", "<i2",
                            "<i4", "<i8", "|b1", "|u1"})
    if (dtype == known)
      return known[2] - '0';
  return 0;
}

template <typename T>
T loadAs(const std::string &data, int64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

} // namespace

int64_t NpyArray::count() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

double NpyArray::load(int64_t index) const {
  if (dtype == "<f2")
    return decode16(loadAs<uint16_t>(data, index), kF16);
  if (isBF16(dtype))
    return decode16(loadAs<uint16_t>(data, index), kBF16);
  if (dtype == "<u2")
    return loadAs<uint16_t>(data, index);
  if (dtype == "<i2")
    return loadAs<int16_t>(data, index);
  if (dtype == "<f4")
    return loadAs<float>(data, index);
  if (dtype == "<f8")
    return loadAs<double>(data, index);
  if (dtype == "<i4")
    return loadAs<int32_t>(data, index);
  if (dtype == "<i8")
    return static_cast<double>(loadAs<int64_t>(data, index));
  return loadAs<uint8_t>(data, index);
}

/// Finds the header and where the data begins.
static Status splitFile(const std::string &content, std::string_view &header,
                        size_t &dataStart) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(content[i]); };
  if (content.size() < 10 || content.compare(0, 6, "\x93NUMPY") != 0)
    return Status::invalidArgument("expected a .npy file, but got another "
                                   "kind of file");
  int major = byte(6);
  size_t start = major == 1 ? 10 : 12;
  if (major < 1 || major > 3 || content.size() < start)
    return Status::invalidArgument("expected .npy version 1, 2 or 3, but got " +
                                   std::to_string(major));
  size_t size = byte(8) | byte(9) << 8;
  if (major > 1)
    size |= size_t(byte(10)) << 16 | size_t(byte(11)) << 24;
  if (content.size() - start < size)
    return Status::invalidArgument("expected a header of " +
                                   std::to_string(size) +
                                   " bytes, but got a shorter file");
  header = std::string_view(content).substr(start, size);
  dataStart = start + size;
  return Status::ok();
}

/// The same elements with the last dimension along memory.
static std::string toRowMajor(const std::string &data,
                              const std::vector<int64_t> &shape, size_t item) {
  std::string result(data.size(), '\0');
  std::vector<int64_t> strides, at(shape.size());
  int64_t stride = 1;
  for (int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  int64_t from = 0;
  for (size_t to = 0; to < data.size(); to += item) {
    std::memcpy(&result[to], &data[from * item], item);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++at[d] < shape[d])
        break;
      from -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
  return result;
}

Expected<NpyArray> parseNpy(std::string content) {
  std::string_view header;
  size_t dataStart = 0;
  if (Status status = splitFile(content, header, dataStart); !status.isOk())
    return status;
  NpyArray array;
  HeaderParser parser(header);
  if (Status status = parser.parse(array); !status.isOk())
    return status;
  size_t item = itemSize(array.dtype);
  if (item == 0)
    return Status::invalidArgument("expected dtype <f2, <f4, <f8, <V2 (bf16), "
                                   "<u2, <i2, <i4, <i8, |b1 or |u1, but got '" +
                                   array.dtype + "'");
  int64_t bytes = static_cast<int64_t>(item);
  bool overflow = false;
  for (int64_t size : array.shape)
    overflow |= __builtin_mul_overflow(bytes, size, &bytes);
  size_t got = content.size() - dataStart;
  if (overflow || static_cast<size_t>(bytes) != got)
    return Status::invalidArgument(
        "expected " + (overflow ? "fewer" : std::to_string(bytes)) +
        " bytes of data, but got " + std::to_string(got));
  content.erase(0, dataStart);
  array.data = parser.isFortranOrder() ? toRowMajor(content, array.shape, item)
                                       : std::move(content);
  return array;
}

Expected<NpyArray> readNpy(const std::string &path) {
  Expected<std::string> content = attn::runtime::readFile(path);
  if (!content)
    return content.status();
  Expected<NpyArray> array = parseNpy(std::move(*content));
  if (!array)
    return Status::invalidArgument(path + ": " + array.status().message());
  return array;
}

Status storeNpy(const NpyArray &array, HostTensor &tensor) {
  bool isHalf =
      tensor.element == ElementType::F16 || tensor.element == ElementType::BF16;
  bool isInteger =
      tensor.element == ElementType::I32 || tensor.element == ElementType::U8;
  if (tensor.data.empty())
    return Status::ok();
  // Bits are taken as they are, NaN included.
  bool isSame =
      isHalf && (isWord16(array.dtype) ||
                 (isBF16(array.dtype) && tensor.element == ElementType::BF16));
  if (isSame) {
    std::memcpy(tensor.data.data(), array.data.data(), tensor.data.size());
    return Status::ok();
  }
  if (isWord16(array.dtype) && !isInteger)
    return Status::invalidArgument("--in: expected " + tensor.name +
                                   " in a type of floating-point " +
                                   "numbers, but got '" + array.dtype +
                                   "', the bits of a number of 16 bits");
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.store(i, array.load(i));
  return Status::ok();
}

static std::string makeHeader(const std::string &dtype,
                              const std::vector<int64_t> &shape) {
  std::string text =
      "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    text += std::to_string(size) + ",";
  text += "), }";
  // The data starts at a multiple of 64 bytes, after a line break.
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string printNpy(const HostTensor &tensor) {
  bool isWord = tensor.element == ElementType::I32;
  bool isByte = tensor.element == ElementType::U8;
  bool isDouble = tensor.element == ElementType::F64;
  std::string content = makeHeader(isWord     ? "<i4"
                                   : isByte   ? "|u1"
                                   : isDouble ? "<f8"
                                              : "<f4",
                                   tensor.sizes);
  if (tensor.element == ElementType::F16 ||
      tensor.element == ElementType::BF16) {
    size_t start = content.size();
    content.resize(start + tensor.count() * sizeof(float));
    std::vector<float> row(1 << 16);
    for (int64_t i = 0; i < tensor.count(); i += row.size()) {
      int64_t size = std::min<int64_t>(row.size(), tensor.count() - i);
      tensor.loadRow(i, size, row.data());
      std::memcpy(&content[start + i * sizeof(float)], row.data(),
                  size * sizeof(float));
    }
  } else {
    content.append(reinterpret_cast<const char *>(tensor.data.data()),
                   tensor.data.size());
  }
  return content;
}

} // namespace attnc
