// Register rows that hold constants or special registers.
#pragma once
#include "base/base.h"

typedef struct Constant { // a row with one value in all lanes, or a special register
    u32 row;
    u8 width;   // bytes a lane
    u8 special; // enum special, SPECIAL_NONE: a value
    u64 value;
} Constant;

enum special {
    SPECIAL_NONE,
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_DYNAMIC_SMEM,
    SPECIAL_TOTAL_SMEM,
    SPECIAL_DYNAMIC_BASE,
    SPECIAL_RESERVED_SMEM,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_EXPLICIT_CLUSTER,
    SPECIAL_AGGREGATE_SMEM,
    SPECIAL_SHARED,        // an address in shared memory: Constant.value is its offset
    SPECIAL_SHARED_WINDOW, // where the block's own window begins in the generic address space
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_ENVREG_1,
    SPECIAL_ENVREG_2,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_HI, // read when the instruction runs
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIALS
};
