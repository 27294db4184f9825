// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-specialize-warpgroups)))' -split-input-file -verify-diagnostics



gpu.module @kernels {
  // expected-error @below {{expected one loop over tiles that copies, to give the producer and the consumers roles}}
  gpu.func @no_copies(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
    }
    gpu.return
  }
}

// -----



gpu.module @kernels {
  // expected-error @below {{expected one loop over tiles that copies, to give the producer and the consumers roles}}
  gpu.func @two_loops(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      attn_gpu.tma_load %map[%tile, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
    }
    scf.for %tile = %c0 to %n step %c1 {
    }
    gpu.return
  }
}

// -----



gpu.module @kernels {
  // expected-error @below {{expected copies that depend on neither the worker nor its data, for the producer to make}}
  gpu.func @copy_of_a_worker(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      attn_gpu.tma_load %map[%worker, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
    }
    gpu.return
  }
}

// -----



gpu.module @kernels {
  // expected-error @below {{expected copies that depend on neither the worker nor its data, for the producer to make}}
  gpu.func @copy_of_what_is_read(%map: !map, %n: index, %o: memref<?xindex>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      %worker = memref.load %o[%tile] : memref<?xindex>
      attn_gpu.tma_load %map[%worker, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
    }
    gpu.return
  }
}
