#include "codegen/Emit.h"
#include "dialect/Ops.h"
#include "mlir/Pass/Pass.h"
