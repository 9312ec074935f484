import { describeArguments } from './support/argument-suite.js';

describeArguments(10_000);
