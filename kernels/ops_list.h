/*
 * Expands ops.def with the macros defined by the includer; the others expand to nothing, and all are
 * undefined afterwards. Included once per generated thing, hence no include guard.
 */
#ifndef OP
#define OP(name, doc)
#endif
#ifndef OPTIONS
#define OPTIONS(op, ...)
#endif
#ifndef OUT
#define OUT(name, rows, cols, ...)
#endif
#ifndef GRAD
#define GRAD(name, rows, cols, ...)
#endif
#ifndef SAVE
#define SAVE(name, rows, cols, ...)
#endif
#ifndef SAVE_IF
#define SAVE_IF(name, rows, cols, attr, ...)
#endif
#ifndef INOUT
#define INOUT(name, rows, cols, ...)
#endif
#ifndef IN
#define IN(name, rows, cols, ...)
#endif
#ifndef GATHER
#define GATHER(name, rows, cols, ...)
#endif
#ifndef OPT
#define OPT(name, rows, cols, ...)
#endif
#ifndef EDGES
#define EDGES(name)
#endif
#ifndef EDGES_OUT
#define EDGES_OUT(name)
#endif
#ifndef EDGES_BOTH
#define EDGES_BOTH(name)
#endif
#ifndef EDGES_OUT_NUMBERED
#define EDGES_OUT_NUMBERED(name)
#endif
#ifndef EDGES_BOTH_NUMBERED
#define EDGES_BOTH_NUMBERED(name)
#endif
#ifndef EDGES_BOTH_NUMBERED_WITH
#define EDGES_BOTH_NUMBERED_WITH(name, option)
#endif
#ifndef PART_EDGES
#define PART_EDGES(name)
#endif
#ifndef PART_EDGES_OUT
#define PART_EDGES_OUT(name)
#endif
#ifndef PART_EDGES_BOTH_NUMBERED
#define PART_EDGES_BOTH_NUMBERED(name)
#endif
#ifndef OFFSETS
#define OFFSETS(name, size, ...)
#endif
#ifndef SIZE
#define SIZE(name, size)
#endif
#ifndef ATTR
#define ATTR(type, name, ...)
#endif
#ifndef CHECK
#define CHECK(condition, message)
#endif
#ifndef HOST
#define HOST()
#endif
#ifndef SENDS
#define SENDS(bytes)
#endif
#ifndef SUMS
#define SUMS()
#endif
#ifndef SHIFTS
#define SHIFTS()
#endif
#ifndef MOVES
#define MOVES()
#endif
#ifndef END
#define END(name, formula, ...)
#endif

#include "kernels/ops.def"

#undef OP
#undef OPTIONS
#undef OUT
#undef GRAD
#undef SAVE
#undef SAVE_IF
#undef INOUT
#undef IN
#undef GATHER
#undef OPT
#undef EDGES
#undef EDGES_OUT
#undef EDGES_BOTH
#undef EDGES_OUT_NUMBERED
#undef EDGES_BOTH_NUMBERED
#undef EDGES_BOTH_NUMBERED_WITH
#undef PART_EDGES
#undef PART_EDGES_OUT
#undef PART_EDGES_BOTH_NUMBERED
#undef OFFSETS
#undef SIZE
#undef ATTR
#undef CHECK
#undef HOST
#undef SENDS
#undef SUMS
#undef SHIFTS
#undef MOVES
#undef END
