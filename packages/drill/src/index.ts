export { variants } from './simulator/variants.js';
export type { Variant, VariantName } from './simulator/variants.js';
export { runCell } from './simulator/cell.js';
export type { CellOptions, CellResult } from './simulator/cell.js';
