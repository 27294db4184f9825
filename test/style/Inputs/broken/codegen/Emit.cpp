#include "passes/Passes.h"
#include "runtime/Abi.h"
#include "runtime/Device.h"
