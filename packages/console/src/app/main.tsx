import { render } from 'preact';
import { startClock } from './lib/clock.js';
import { startKeys } from './lib/keys.js';
import { startRouter } from './lib/router.js';
import { startSettings } from './lib/settings.js';
import { startSession } from './data/session.js';
import { App } from './app.js';

startSettings();
startRouter();
startKeys();
startClock();
void startSession();

const root = document.getElementById('app');
if (root) render(<App />, root);
