// DEFINE: %{run} = attn-opt %s | \
// DEFINE:   FileCheck %s
// RUN: %{run}
