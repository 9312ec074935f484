import { describeArguments } from './support/arguments.js';

describeArguments(10_000);
