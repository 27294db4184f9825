// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: @band
// CHECK: attn.band rows(%{{.*}}) of(%{{.*}}, %{{.*}}) lengths(%{{.*}}, %{{.*}}) : vector<16xindex>
// CHECK: attn.band rows(%{{.*}}) of(%{{.*}}, %{{.*}}) lengths(%{{.*}}, %{{.*}}) mask(#attn.causal<bottom_right>) : vector<8xindex>
func.func @band(%row: index, %b: index, %h: index, %sq: index, %sk: index) -> (vector<16xindex>, vector<8xindex>) {
  %0:2 = attn.band rows(%row) of(%b, %h) lengths(%sq, %sk) : vector<16xindex>
  %1:2 = attn.band rows(%row) of(%b, %h) lengths(%sq, %sk) mask(#attn.causal<bottom_right>) : vector<8xindex>
  return %0#0, %1#1 : vector<16xindex>, vector<8xindex>
}
