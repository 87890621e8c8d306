#include "analysis/charts/figure.h"

/* Made from analysis/plots by the Makefile. */
#include "analysis/charts/styles.inc"
