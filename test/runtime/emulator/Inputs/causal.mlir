// The kernel of causal.json with rings of 2 slots: every wait matters, while in
// deeper ones a worker that passes over two tiles meets nobody.
#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d5)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d5)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
module {
  func.func @attn_fwd_sm90a_bf16_d128_causalbr_lse_4ffa91c8(%arg0: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %arg1: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %arg2: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %arg3: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %arg4: memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>, %arg5: f32) attributes {attn.launch = {num_kv_heads = 2 : i64, num_qo_heads = 2 : i64}, attn.target = "sm_90a"} {
    attn.attention query(%arg0 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) key(%arg1 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) value(%arg2 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) scale(%arg5) outs(%arg3, %arg4 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>) mask(#attn.causal<bottom_right>) schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 80, workers = 3, query_stages = 2, stages = 2, registers = [32, 160], overlap = true, rescale_threshold = 8, persistent = true, descending = true>) maps [#map, #map1, #map2, #map3, #map4]
    return
  }
}
