// RUN: attn-opt %s
