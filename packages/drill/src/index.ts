export { arms } from './arms/index.js';
export type { Arm, ArmName } from './arms/index.js';
export { runCell } from './runs/cell.js';
export type { CellOptions, CellResult } from './runs/cell.js';
