//===- AttnGPUDialect.td - What a thread block does --------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_TD
#define ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def AttnGPU_Dialect : Dialect {
  let name = "attn_gpu";
  let cppNamespace = "::mlir::attn_gpu";
  let summary = "what a thread block does: shared tiles, channels, roles, asynchronous matmuls";
  let description = [{
    The kernel altitude. A kernel is a `gpu.func` whose body is written from the
    view of one *worker*: a group of threads that owns some query rows of the
    block's tile and all of their columns. A worker is a warpgroup (64 rows) for
    `wgmma` or a warp (16 rows) for `mma.sync`; `attn_gpu.warps_per_worker` on
    the function says which. Values of a worker's tile are builtin vectors:

    * `vector<RxN>`: a *fragment*, spread over the worker's threads as the
      accumulator of `mma.m16n8` is: warp `w` holds rows `16w .. 16w+15`, and of
      these lane `l` holds rows `l/4` and `l/4 + 8`, columns
      `8j + 2*(l%4) + {0, 1}` for every `j`. Packed in 16 bits, the same
      registers are the A operand of the next matmul.
    * `vector<R>` and `vector<Rx1>`: one value per row, held by the 4 lanes that
      share the row.
    * `vector<1xN>`: one value per column, held by the lanes that hold it.
    * scalars are uniform over the worker.

    Shared memory is seen as tiles with a layout, and tiles reach a worker
    through channels. Matmuls are asynchronous and say so in their type: an
    `!attn_gpu.inflight` value can only be waited for or accumulated into.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class AttnGPU_Attr<string name, string mnemonicText, list<Trait> traits = []>
    : AttrDef<AttnGPU_Dialect, name, traits> {
  let mnemonic = mnemonicText;
}

class AttnGPU_Type<string name, string mnemonicText, list<Trait> traits = []>
    : TypeDef<AttnGPU_Dialect, name, traits> {
  let mnemonic = mnemonicText;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def AttnGPU_PanelsAttr : AttnGPU_Attr<"Panels", "panels"> {
  let summary = "how a tile lies in shared memory";
  let description = [{
    A tile is cut into panels of `swizzle` bytes of columns. A panel holds
    `rows` rows of `swizzle` bytes each, one after the other, and panels follow
    each other. Within a row, the 16-byte unit `u` is stored at place
    `u XOR (row mod swizzle/16)`, which is what the copy engine and `wgmma` call
    a swizzle of that many bytes; it needs panels aligned to 8 rows.

    Every address is derived from this attribute (SharedLayout.h): the copy's
    box, the matmul's descriptor, `ldmatrix` rows, plain loads and stores.

    `rows` may exceed the rows of a tile that is part of a larger one.

    ```mlir
    #attn_gpu.panels<rows = 192, swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$swizzle);
  let assemblyFormat = "`<` `rows` `=` $rows `,` `swizzle` `=` $swizzle `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def AttnGPU_TileType : AttnGPU_Type<"Tile", "tile"> {
  let summary = "a tile in shared memory";
  let description = [{
    A tile has rows and columns and elements of 8, 16 or 32 bits, and no more
    rows than its layout.

    ```mlir
    !attn_gpu.tile<64x128xbf16, #attn_gpu.panels<rows = 192, swizzle = 128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "PanelsAttr":$layout);
  let assemblyFormat = [{
    `<` custom<ShapeAndType>($shape, $elementType) `,` $layout `>`
  }];
  let genVerifyDecl = 1;
}

def AttnGPU_ChannelType : AttnGPU_Type<"Channel", "channel"> {
  let summary = "a ring of tiles in shared memory between producer and consumers";
  let description = [{
    A ring of `stages` slots. Slot number `n` (a running count, never reset) is
    the ring's entry `n mod stages`; it is filled for the `n`-th time only once
    all consumers have released number `n - stages`.

    ```mlir
    !attn_gpu.channel<80x128xbf16, stages = 2, #attn_gpu.panels<rows = 80, swizzle = 128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "int64_t":$stages,
                        "PanelsAttr":$layout);
  let assemblyFormat = [{
    `<` custom<ShapeAndType>($shape, $elementType) `,` `stages` `=` $stages
    `,` $layout `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    TileType getTileType() const {
      return TileType::get(getContext(), getShape(), getElementType(),
                           getLayout());
    }
  }];
}

def AttnGPU_InflightType : AttnGPU_Type<"Inflight", "inflight"> {
  let summary = "an accumulator that a matmul is still writing";
  let description = [{
    Its registers may not be touched until an `attn_gpu.mma_wait` gives them
    back as a vector, which the type makes impossible to forget.

    ```mlir
    !attn_gpu.inflight<64x80xf32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<ShapeAndType>($shape, $elementType) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::VectorType getVectorType() const {
      return ::mlir::VectorType::get(getShape(), getElementType());
    }
  }];
}

def AttnGPU_TensorMapType : AttnGPU_Type<"TensorMap", "tensor_map"> {
  let summary = "a descriptor with which the copy engine reads a tensor";
  let description = [{
    Made by the runtime for one tensor argument and passed as a kernel
    argument of its own. `box` has one extent per dimension of the tensor, in
    the tensor's order; the last is one panel wide.

    ```mlir
    !attn_gpu.tensor_map<1x80x1x64xbf16, swizzle = 128>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box,
                        "::mlir::Type":$elementType, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` custom<ShapeAndType>($box, $elementType) `,` `swizzle` `=` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

#endif // ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_TD
