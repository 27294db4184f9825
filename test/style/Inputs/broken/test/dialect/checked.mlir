// RUN: attn-opt %s | FileCheck %s
