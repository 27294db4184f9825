# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit suite of attn-mlir. Unit tests run under ctest, the conformance suite
# and the GPU scripts on their own; none of them is a lit test.

import os
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "attn-mlir"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_build_dir, "test")
config.excludes = [
    "CMakeLists.txt",
    "README.md",
    "Inputs",
    "conformance",
    "device",
    "emulator",
    "fuzz",
    "lib",
    "runtime",
]

# A variable matched under one CHECK-LABEL must not leak into the next, and a
# prefix that no RUN line uses is a check that never runs.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.attn_tools_dir, append_path=True)


def find_ptxas():
    """The order that attnc uses: $PTXAS, PATH, $CUDA_HOME."""
    cuda_home = os.environ.get("CUDA_HOME", "")
    for candidate in (
        os.environ.get("PTXAS", ""),
        "ptxas",
        os.path.join(cuda_home, "bin", "ptxas") if cuda_home else "",
    ):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    return None


def has_gpu():
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    try:
        done = subprocess.run([smi, "-L"], capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and b"GPU" in done.stdout


ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.environment["PTXAS"] = ptxas
if has_gpu():
    config.available_features.add("cuda")

# With this in the environment every attn-opt call also prints, parses and
# compares what it was given; tools/test reruns the dialect and pass tests so.
roundtrip = []
if os.environ.get("ATTN_OPT_CHECK_IR_ROUNDTRIP"):
    roundtrip = ["--verify-roundtrip"]

config.substitutions.append(("%root", config.attn_source_dir))
config.substitutions.append(("%build", config.attn_build_dir))
config.substitutions.append(
    ("%test_mask", os.path.join(config.attn_build_dir, "lib", "libTestMask.so"))
)
config.substitutions.append(("%python", f'"{sys.executable}"'))
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [ToolSubst("attn-opt", extra_args=roundtrip, unresolved="ignore"), "attn-launch", "attnc"],
    [config.attn_tools_dir],
)
llvm_config.add_tool_substitutions(
    ["mlir-opt", "mlir-translate", "split-file", "llvm-as", "opt"],
    [config.llvm_tools_dir],
)
