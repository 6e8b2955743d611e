/** What the page knows of views beyond their fields; a view without an entry needs none. */

/** Fields that come first in a view's table. */
export const FIRST: Record<string, readonly string[]> = {
  kernels: ['kernel', 'name', 'variant', 'op', 'layer', 'params', 'shapes', 'rank', 'step', 'lane', 'start_ns', 'duration_ns', 'sil', 'flops', 'bytes', 'tflops', 'gbps', 'pct_math', 'pct_dram', 'bound', 'bound_why', 'tc', 'dir', 'phase', 'grid', 'block', 'theoretical_occupancy_pct'],
};

/** Of views that have no tab: those that tell the same, the best first. */
export const ELSEWHERE: Record<string, readonly string[]> = { stragglers: ['culprits', 'distributed'] };

/** Keys by which the rows of a view may be made one together, beside each alone. */
export const TOGETHER: Record<string, readonly (readonly string[])[]> = {
  kernels: [['kernel', 'op', 'grid', 'block'], ['name', 'op', 'grid', 'block'], ['name', 'variant'], ['op', 'params'], ['op', 'shapes']],
};
