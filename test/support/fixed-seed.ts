import fc from 'fast-check';

const { TOOLKEEL_TEST_SEED: given = '20261116' } = process.env;

// The same cases in every run, so that only a change can make a test fail. TOOLKEEL_TEST_SEED=random draws
// other cases; a failing case becomes an explicit example.
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
