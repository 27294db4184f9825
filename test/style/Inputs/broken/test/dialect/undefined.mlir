// DEFINE: %{run} = attn-opt %s | FileCheck %s
// RUN: attn-opt %s
