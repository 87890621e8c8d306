#include "analysis/charts/style.h"

/* Made from analysis/plots by the Makefile. */
#include "analysis/charts/styles.inc"
