# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors inside larger allocations that are poisoned with NaN, and whether a
kernel wrote where it should not."""

import dataclasses

import torch

# NaNs of our own, so that one that a kernel computes is told apart.
POISON = {torch.bfloat16: 0x7FA5, torch.float16: 0x7DA5, torch.float32: 0x7FA5A5A5}
BITS = {2: torch.int16, 4: torch.int32}


@dataclasses.dataclass
class Placed:
    storage: torch.Tensor  # flat
    view: torch.Tensor  # (batch, head, row, column)

    def untouched(self):
        """Whether everything outside the view is as it was. Spoils the view."""
        bits = self.storage.view(BITS[self.storage.element_size()])
        poison = POISON[self.storage.dtype]
        as_bits = torch.as_strided(
            bits, self.view.shape, self.view.stride(), self.view.storage_offset()
        )
        as_bits.fill_(poison)
        return bool((bits == poison).all())


def place(dims, dtype, order="bshd", padding=0, gap=0, offset=0, device="cuda"):
    """Uninitialised: NaN everywhere. `order` is the memory order, slowest
    first; rows are `padding` elements apart, batch entries `gap` more."""
    extent = dict(zip("bhsd", dims))
    strides, stride = {}, 1
    for name in reversed(order):
        if name == order[0]:
            stride += gap
        strides[name] = stride
        stride *= extent[name]
        if name == "d":
            stride += padding
    size = offset + sum((max(extent[n], 1) - 1) * strides[n] for n in "bhsd") + 1 + 64
    bits = BITS[torch.empty(0, dtype=dtype).element_size()]
    storage = torch.full((size,), POISON[dtype], dtype=bits, device=device).view(dtype)
    view = torch.as_strided(storage, dims, [strides[n] for n in "bhsd"], offset)
    return Placed(storage, view)
