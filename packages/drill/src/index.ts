export { arms } from './simulator/variants.js';
export type { Arm, ArmName } from './simulator/variants.js';
export { runCell } from './simulator/cell.js';
export type { CellOptions, CellResult } from './simulator/cell.js';
