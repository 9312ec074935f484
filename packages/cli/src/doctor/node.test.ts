import { expect, it } from 'vitest';
import { examineNode } from './node.js';

it.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0'])('%s is new enough', (version) => {
  expect(examineNode(version)).toMatchObject({ status: 'ok', detail: version });
});

it.each(['18.20.0', '20.18.9'])('%s is too old, and what is needed is said', (version) => {
  expect(examineNode(version)).toMatchObject({
    status: 'fail',
    advice: 'Install Node.js 20.19 or newer.',
  });
});
