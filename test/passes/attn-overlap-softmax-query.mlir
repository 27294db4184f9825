// DEFINE: %{overlap} = attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))'
// RUN: %{overlap} %s | FileCheck %s
// RUN: sed 's/^ *vector.transfer_write/    attn_gpu.tile_value %%q : !query -> vector<64x16xbf16>\n&/' %s | %{overlap} | FileCheck %s --check-prefix=READ

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!ring = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!queries = !attn_gpu.channel<64x16xbf16, stages = 1, #attn_gpu.panels<rows = 64, swizzle = 128>>
!query = !attn_gpu.tile<64x16xbf16, #attn_gpu.panels<rows = 64, swizzle = 128>>
!s = vector<64x16xf32>
!started = !attn_gpu.inflight<64x16xf32>

gpu.module @kernels {
  // Only the QK products read the query tile: it is free before the last PV
  // product, and where there is no iteration.
  // CHECK-LABEL: gpu.func @released_before_the_epilogue
  // CHECK-SAME: %[[QUERIES:[^ ]*]]: !attn_gpu.channel<64x16xbf16
  // CHECK: attn.tile_loop
  // CHECK-NOT: attn_gpu.release %[[QUERIES]]
  // CHECK: attn.yield
  // CHECK: attn_gpu.release %[[QUERIES]]
  // CHECK: attn_gpu.mma_async
  // CHECK: } else {
  // CHECK-NEXT: attn_gpu.release %[[QUERIES]]
  // CHECK: }
  // CHECK-NOT: attn_gpu.release

  // It is not where something behind the loop reads it too.
  // READ-LABEL: gpu.func @released_before_the_epilogue
  // READ-SAME: %[[QUERIES:[^ ]*]]: !attn_gpu.channel<64x16xbf16
  // READ: attn.tile_loop
  // READ: } else {
  // READ-NEXT: scf.yield
  // READ: attn_gpu.release %[[QUERIES]]
  // READ: attn_gpu.tile_value
  gpu.func @released_before_the_epilogue(%Q: !queries, %K: !ring, %V: !ring, %m: vector<64xf32>, %f: f32, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %q = attn_gpu.receive %Q[%c0] : !queries
    %sum = attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n)
        carries(accumulator %acc = %zero : !s) {
      %k = attn_gpu.receive %K[%i] : !ring
      %qk = attn_gpu.mma_async %q, %k transpose_b : !query, !tile -> !started
      %s = attn_gpu.mma_wait %qk pending(0) : !started
      attn_gpu.release %K[%i] : !ring
      %p = attn.softmax_weights %s relative(%m) factor(%f) : !s, vector<64xf32>
      %rounded = arith.truncf %p : !s to vector<64x16xbf16>
      %v = attn_gpu.receive %V[%i] : !ring
      %pv = attn_gpu.mma_async %rounded, %v accumulator(%acc : !s) : vector<64x16xbf16>, !tile -> !started
      %next = attn_gpu.mma_wait %pv pending(0) : !started
      attn_gpu.release %V[%i] : !ring
      attn.yield %next : !s
    }
    attn_gpu.release %Q[%c0] : !queries
    vector.transfer_write %sum, %o[%c0, %c0] : !s, memref<64x16xf32>
    gpu.return
  }
}
