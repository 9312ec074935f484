import fc from 'fast-check';

const { TOOLKEEL_TEST_SEED: given = '20261116' } = process.env;

// The same cases in every run, so that a red run is red because of a change. Other ones are drawn on
// demand, and what they show becomes an example of its own.
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
