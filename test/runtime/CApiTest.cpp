//===- CApiTest.cpp - Tests of the C API and the CUDA device --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the fake driver, which this program finds as libcuda.so.1.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "Sample.h"

#include "runtime/CudaDriver.h"
#include "runtime/OpenDevice.h"
#include "runtime/attn.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <thread>

using namespace attn::runtime;
using namespace attn::runtime::test;

namespace {

const FakeControl &fake() {
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  static auto get =
      reinterpret_cast<GetFakeControl>(dlsym(driver, "fakeControl"));
  return *get();
}

/// The sample loaded on the fake GPU, with tensors in its memory.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(attn_device_open("cuda", &device_), ATTN_OK) << attn_last_error();
    std::string manifest = sampleManifest();
    ASSERT_EQ(load(manifest, kSampleImage, &kernel_), ATTN_OK)
        << attn_last_error();
    for (uint64_t *pointer : {&q_, &k_, &v_, &o_, &lse_})
      ASSERT_EQ(attn_device_allocate(device_, 1 << 20, pointer), ATTN_OK);
    tensors_[0] = {"q", q_, 4, querySizes_, queryStrides_};
    tensors_[1] = {"k", k_, 4, keySizes_, keyStrides_};
    tensors_[2] = {"o", o_, 4, querySizes_, queryStrides_};
    tensors_[3] = {"lse", lse_, 3, lseSizes_, lseStrides_};
    tensors_[4] = {"v", v_, 4, keySizes_, keyStrides_};
    launch_.struct_size = sizeof launch_;
    launch_.tensors = tensors_;
    launch_.num_tensors = 5;
  }
  void TearDown() override {
    for (uint64_t pointer : {q_, k_, v_, o_, lse_})
      EXPECT_EQ(attn_device_free(device_, pointer), ATTN_OK);
    attn_device_close(device_); // the kernel keeps what it needs
    attn_kernel_close(kernel_);
  }

  attn_status load(const std::string &manifest, const std::string &image,
                   attn_kernel **kernel) {
    return attn_kernel_load_memory(device_, manifest.data(), manifest.size(),
                                   image.data(), image.size(), kernel);
  }

  FakeLaunch lastLaunch() {
    FakeLaunch launch{};
    EXPECT_EQ(attn_device_copy_out(device_, &launch, o_, sizeof launch),
              ATTN_OK);
    return launch;
  }

  attn_device *device_ = nullptr;
  attn_kernel *kernel_ = nullptr;
  uint64_t q_ = 0, k_ = 0, v_ = 0, o_ = 0, lse_ = 0;
  int64_t querySizes_[4] = {2, 300, 4, 64};
  int64_t queryStrides_[4] = {300 * 4 * 64, 4 * 64, 64, 1};
  int64_t keySizes_[4] = {2, 100, 2, 64};
  int64_t keyStrides_[4] = {100 * 2 * 64, 2 * 64, 64, 1};
  int64_t lseSizes_[3] = {2, 4, 300};
  int64_t lseStrides_[3] = {4 * 300, 300, 1};
  attn_tensor tensors_[5] = {};
  attn_launch launch_ = {};
};

} // namespace

TEST_F(CApi, LaunchPassesEverything) {
  attn_scalar scale = {"softmax_scale", 0.25};
  launch_.scalars = &scale;
  launch_.num_scalars = 1;
  launch_.stream = fake().makeStream(0, true);
  ASSERT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_OK)
      << attn_last_error();
  FakeLaunch launch = lastLaunch();
  EXPECT_EQ(launch.gridX, 24u);
  EXPECT_EQ(launch.blockX, 384u);
  EXPECT_EQ(launch.sharedBytes, 100000u);
  EXPECT_EQ(launch.stream, launch_.stream);
  EXPECT_EQ(launch.length, 100);
  EXPECT_EQ(launch.stride, 256);
  EXPECT_EQ(launch.scale, 0.25f);
  EXPECT_EQ(launch.map.address, k_);
  EXPECT_EQ(launch.map.type, cuda::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(launch.map.swizzle, 3);
  EXPECT_EQ(launch.map.dims[1], 100u);
  EXPECT_EQ(launch.map.strides[0], 256u);
  EXPECT_EQ(launch.map.box[1], 80u);
}

TEST_F(CApi, GridLimit) {
  launch_.grid_limit = 5;
  ASSERT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_OK);
  EXPECT_EQ(lastLaunch().gridX, 5u);
}

TEST_F(CApi, Plan) {
  attn_plan plan = {};
  ASSERT_EQ(attn_kernel_plan(kernel_, &launch_, &plan), ATTN_OK)
      << attn_last_error();
  EXPECT_EQ(plan.workspace_bytes, 0u);
  EXPECT_EQ(plan.num_blocks, 24u);
  // 200 rows of 300 see nothing, then 1 to 100 keys.
  EXPECT_EQ(plan.flops, 4.0 * 2 * 4 * (100 * 101 / 2) * 64);
}

TEST_F(CApi, ErrorsNameTheFault) {
  tensors_[1].data += 2;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_UNSUPPORTED);
  EXPECT_NE(std::string(attn_last_error()).find("k: expected an address"),
            std::string::npos);
  tensors_[1].sizes = nullptr;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "k: expected sizes and strides, but got null");
  launch_.struct_size = 8;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_kernel_launch(kernel_, nullptr), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_kernel_launch(nullptr, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_device_open("gpu", &device_), ATTN_INVALID_ARGUMENT);
}

TEST_F(CApi, DriverErrorsKeepItsWords) {
  attn_kernel *kernel = nullptr;
  EXPECT_EQ(load(sampleManifest("bad"), "bad", &kernel), ATTN_LAUNCH_FAILED);
  EXPECT_STREQ(attn_last_error(),
               "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (the driver's "
               "words): ptxas line 7: unknown instruction");
  EXPECT_EQ(load(sampleWith("\"sample_entry\"", "\"other_entry\""),
                 kSampleImage, &kernel),
            ATTN_LAUNCH_FAILED);
  EXPECT_STREQ(attn_last_error(),
               "other_entry: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (the "
               "driver's words)");
  uint64_t pointer = 0;
  EXPECT_EQ(attn_device_allocate(device_, size_t(1) << 50, &pointer),
            ATTN_LAUNCH_FAILED);
  EXPECT_NE(std::string(attn_last_error()).find("CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos);
  EXPECT_EQ(kernel, nullptr);
}

TEST_F(CApi, UnfitKernelsAreRefusedAtLoading) {
  attn_kernel *kernel = nullptr;
  std::string other = sampleWith({{"\"sm_90a\"", "\"sm_100a\""},
                                  {"\"sm_90a\"", "\"sm_100a\""},
                                  {"[9, 0]", "[10, 0]"}});
  EXPECT_EQ(load(other, kSampleImage, &kernel), ATTN_UNSUPPORTED);
  EXPECT_EQ(load(sampleWith("100000", "300000"), kSampleImage, &kernel),
            ATTN_UNSUPPORTED);
}

TEST_F(CApi, ImagesOfOtherBuildsAreRefused) {
  attn_kernel *kernel = nullptr;
  EXPECT_EQ(load(sampleManifest(), ".version 8.7", &kernel),
            ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(attn_last_error()),
            "sample.ptx: expected the file that the manifest was written with, "
            "of SHA-256 " +
                sha256(kSampleImage) + ", but got one of " +
                sha256(".version 8.7"));
  // A cubin that the manifest does not know, whatever it holds.
  EXPECT_EQ(load(sampleManifest(),
                 "\x7f"
                 "ELF",
                 &kernel),
            ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "sample: expected the PTX that the manifest "
                                  "names, but got a cubin");
  // The cubin has a digest of its own.
  std::string cubin = "\x7f"
                      "ELF...";
  std::string both = sampleWith(
      "\"cubin\": null", "\"cubin\": \"sample.cubin\", \"cubin_sha256\": \"" +
                             sha256(cubin) + "\"");
  EXPECT_EQ(load(both, cubin, &kernel), ATTN_OK) << attn_last_error();
  attn_kernel_close(kernel);
  EXPECT_EQ(load(both, cubin + " ", &kernel), ATTN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(attn_last_error()).find("sample.cubin: expected"),
            std::string::npos);
}

TEST_F(CApi, LoadsFiles) {
  std::string folder = testing::TempDir();
  std::string path = folder + "/sample.json";
  auto write = [](const std::string &name, const std::string &text) {
    FILE *file = std::fopen(name.c_str(), "wb");
    ASSERT_TRUE(file);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  };
  write(path, sampleManifest());
  write(folder + "/sample.ptx", kSampleImage);
  attn_kernel *kernel = nullptr;
  ASSERT_EQ(attn_kernel_load(device_, path.c_str(), &kernel), ATTN_OK)
      << attn_last_error();
  EXPECT_STREQ(attn_kernel_name(kernel), "sample");
  EXPECT_EQ(attn_kernel_manifest(kernel), sampleManifest());
  attn_kernel_close(kernel);
  write(folder + "/sample.ptx", ".version 8.7");
  EXPECT_EQ(attn_kernel_load(device_, path.c_str(), &kernel),
            ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_kernel_load(device_, "/no/such.json", &kernel),
            ATTN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(attn_last_error()).find("/no/such.json"),
            std::string::npos);
}

TEST_F(CApi, AnyThreadMayLaunch) {
  std::vector<std::thread> threads;
  std::array<attn_status, 4> results;
  for (attn_status &result : results)
    threads.emplace_back([&] {
      result = ATTN_OK;
      for (int i = 0; i < 100 && result == ATTN_OK; ++i)
        result = attn_kernel_launch(kernel_, &launch_);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (attn_status result : results)
    EXPECT_EQ(result, ATTN_OK);
}

TEST(Driver, AbsenceIsAStatus) {
  Expected<cuda::Driver> driver =
      cuda::loadDriverFrom("libattn-no-such-driver.so.1");
  ASSERT_FALSE(bool(driver));
  EXPECT_EQ(driver.status().code(), StatusCode::Unsupported);
  EXPECT_NE(driver.status().message().find("no CUDA driver"),
            std::string::npos);
  // A library that is no driver.
  driver = cuda::loadDriverFrom("libm.so.6");
  ASSERT_FALSE(bool(driver));
  EXPECT_NE(driver.status().message().find("expected the symbol cuInit"),
            std::string::npos);
}

TEST(OpenDevice, ByName) {
  Expected<OpenedDevice> opened = openDevice("auto");
  ASSERT_TRUE(bool(opened));
  EXPECT_EQ(opened->kind, "cuda");
  EXPECT_EQ(opened->device->info().name, "fake GPU 0");
  EXPECT_EQ(openDevice("cuda:1")->device->info().name, "fake GPU 1");
  EXPECT_EQ(openDevice("cuda:2").status().message(),
            "expected a GPU number below 2, but got 2");
  EXPECT_EQ(openDevice("cuda:x").status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(openDevice("").status().code(), StatusCode::InvalidArgument);
}

/// A program that chose its GPU need not say so again; a number still counts.
TEST(OpenDevice, TakesTheCurrentContextsGpu) {
  fake().setCurrent(1);
  for (const char *name : {"auto", "cuda"})
    EXPECT_EQ(openDevice(name)->device->info().name, "fake GPU 1") << name;
  EXPECT_EQ(openDevice("cuda:0")->device->info().name, "fake GPU 0");
  EXPECT_EQ(fake().getCurrent(), 1);
  fake().setCurrent(-1);
}

//===----------------------------------------------------------------------===//
// Another GPU's memory and streams
//===----------------------------------------------------------------------===//

TEST_F(CApi, LaunchesWhateverContextIsCurrent) {
  for (int ordinal : {-1, 0, 1}) {
    fake().setCurrent(ordinal);
    EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_OK)
        << attn_last_error();
    EXPECT_EQ(fake().getCurrent(), ordinal);
  }
  fake().setCurrent(-1);
}

TEST_F(CApi, MemoryOfAnotherGpuIsRefused) {
  attn_device *other = nullptr;
  ASSERT_EQ(attn_device_open("cuda:1", &other), ATTN_OK);
  uint64_t far = 0;
  ASSERT_EQ(attn_device_allocate(other, 1 << 20, &far), ATTN_OK);
  for (int t = 0; t < 5; ++t) {
    uint64_t own = tensors_[t].data;
    tensors_[t].data = far + 4096; // anywhere inside
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx",
                  static_cast<unsigned long long>(far + 4096));
    std::string message = std::string(tensors_[t].name) +
                          ": expected memory of GPU 0, but got " + address +
                          " on GPU 1";
    EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(attn_last_error(), message);
    EXPECT_EQ(attn_kernel_plan(kernel_, &launch_, nullptr),
              ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(attn_last_error(), message);
    tensors_[t].data = own;
  }
  launch_.workspace = far;
  launch_.workspace_bytes = 256;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(attn_last_error()).find("workspace: expected memory"),
            0u);
  EXPECT_EQ(attn_device_free(other, far), ATTN_OK);
  attn_device_close(other);
}

TEST_F(CApi, MemoryThatNoGpuHasIsRefused) {
  alignas(16) static char host[1 << 18];
  auto address = reinterpret_cast<uint64_t>(host);
  tensors_[1].data = address;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(attn_last_error())
                .find(", which is no memory that CUDA knows"),
            std::string::npos)
      << attn_last_error();
  // What is managed or pinned is everyone's.
  for (auto [type, isManaged] :
       {std::pair<unsigned, bool>(cuda::CU_MEMORYTYPE_HOST, false),
        std::pair<unsigned, bool>(cuda::CU_MEMORYTYPE_DEVICE, true)}) {
    fake().addMemory(host, sizeof host, type, 1, isManaged);
    EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_OK)
        << attn_last_error();
    fake().removeMemory(host);
  }
}

/// Where the GPU shares the host's page tables.
TEST_F(CApi, PageableMemoryIsTakenWhereTheGpuReachesIt) {
  alignas(16) static char host[1 << 18];
  fake().setPageable(true);
  attn_device *device = nullptr;
  attn_kernel *kernel = nullptr;
  ASSERT_EQ(attn_device_open("cuda", &device), ATTN_OK);
  fake().setPageable(false);
  std::string manifest = sampleManifest(), image = kSampleImage;
  ASSERT_EQ(attn_kernel_load_memory(device, manifest.data(), manifest.size(),
                                    image.data(), image.size(), &kernel),
            ATTN_OK);
  tensors_[1].data = reinterpret_cast<uint64_t>(host);
  EXPECT_EQ(attn_kernel_launch(kernel, &launch_), ATTN_OK) << attn_last_error();
  attn_kernel_close(kernel);
  attn_device_close(device);
}

TEST_F(CApi, EmptyTensorsMayBeAnywhere) {
  int64_t none[4] = {2, 0, 2, 64};
  for (int t : {1, 4}) {
    tensors_[t].data = 0x123450;
    tensors_[t].sizes = none;
  }
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_OK)
      << attn_last_error();
}

TEST_F(CApi, StreamsOfAnotherGpuAreRefused) {
  launch_.stream = fake().makeStream(1, true);
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "stream: expected a stream of GPU 0, but got one of GPU 1");
  EXPECT_EQ(fake().getCurrent(), -1);
  int nothing = 0;
  launch_.stream = &nothing;
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "stream: cuStreamGetCtx: CUDA_ERROR_INVALID_HANDLE (the "
               "driver's words)");
  // Another context's of the same GPU: the driver knows whether it can.
  launch_.stream = fake().makeStream(0, false);
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_LAUNCH_FAILED);
  EXPECT_EQ(std::string(attn_last_error())
                .find("sample_entry: cuLaunchKernel: "
                      "CUDA_ERROR_INVALID_HANDLE"),
            0u);
}

TEST_F(CApi, ALostContextIsSaid) {
  fake().breakContexts(true);
  EXPECT_EQ(attn_kernel_launch(kernel_, &launch_), ATTN_LAUNCH_FAILED);
  EXPECT_STREQ(attn_last_error(),
               "cuCtxPushCurrent: CUDA_ERROR_INVALID_CONTEXT (the driver's "
               "words)");
  EXPECT_EQ(attn_device_synchronize(device_), ATTN_LAUNCH_FAILED);
  fake().breakContexts(false);
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// What a garbage collector, or a program that compiles as it goes, does while
/// another thread captures a graph.
TEST_F(CApi, LoadingAndClosingLeaveCapturesValid) {
  int before = fake().countModules();
  attn_kernel *kernel = nullptr;
  ASSERT_EQ(load(sampleManifest(), kSampleImage, &kernel), ATTN_OK);
  fake().beginCapture(fake().makeStream(0, true));
  attn_kernel_close(kernel);
  EXPECT_EQ(fake().countModules(), before);
  EXPECT_TRUE(fake().endCapture());

  fake().beginCapture(fake().makeStream(0, true));
  attn_device *device = nullptr;
  uint64_t pointer = 0;
  ASSERT_EQ(attn_device_open("cuda", &device), ATTN_OK);
  ASSERT_EQ(load(sampleManifest(), kSampleImage, &kernel), ATTN_OK);
  EXPECT_EQ(attn_kernel_launch(kernel, &launch_), ATTN_OK);
  EXPECT_EQ(attn_device_allocate(device, 64, &pointer), ATTN_OK);
  EXPECT_EQ(attn_device_free(device, pointer), ATTN_OK);
  attn_kernel_close(kernel);
  attn_device_close(device);
  EXPECT_EQ(fake().countModules(), before);
  EXPECT_TRUE(fake().endCapture());
  // The thread's own mode is as it was: what it does itself still counts.
  cuda::CUstreamCaptureMode mode = cuda::CU_STREAM_CAPTURE_MODE_GLOBAL;
  (*cuda::loadDriver())->exchangeCaptureMode(&mode);
  EXPECT_EQ(mode, cuda::CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/// A graph holds no reference to the code that it will run.
TEST_F(CApi, CapturedCodeStaysLoaded) {
  int before = fake().countModules();
  for (bool isCaptured : {false, true}) {
    attn_kernel *kernel = nullptr;
    ASSERT_EQ(load(sampleManifest(), kSampleImage, &kernel), ATTN_OK);
    launch_.stream = fake().makeStream(0, true);
    if (isCaptured)
      fake().beginCapture(launch_.stream);
    EXPECT_EQ(attn_kernel_launch(kernel, &launch_), ATTN_OK)
        << attn_last_error();
    if (isCaptured)
      EXPECT_TRUE(fake().endCapture());
    attn_kernel_close(kernel);
    EXPECT_EQ(fake().countModules(), before + isCaptured);
  }
}

TEST(CudaDevice, Timer) {
  Expected<OpenedDevice> opened = openDevice("cuda");
  ASSERT_TRUE(bool(opened));
  auto timer = opened->device->createTimer();
  ASSERT_TRUE(bool(timer));
  EXPECT_TRUE((*timer)->start(nullptr).isOk());
  EXPECT_TRUE((*timer)->stop(nullptr).isOk());
  EXPECT_NEAR(*(*timer)->seconds(), 2e-3, 1e-9);
}
