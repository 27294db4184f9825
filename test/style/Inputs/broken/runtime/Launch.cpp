#include <vector>
#include "llvm/ADT/StringRef.h"
#include "../codegen/Emit.h"
