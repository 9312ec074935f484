export { echoes, type Echo } from './echoes.js';
