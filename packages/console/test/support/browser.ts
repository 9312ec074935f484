import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { findChromium } from '../../../../scripts/lib/chromium.mjs';

export type { Page } from 'playwright-core';

export interface Browser {
  /** A new person: own cookies, own settings. */
  readonly page: (options?: PageOptions) => Promise<Page>;
  /** For `afterEach`: an open page goes on asking its server. */
  readonly closePages: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly scale?: number;
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the system's Chromium; Playwright gives it an empty profile in a temporary folder. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    headless: true,
    args: FLAGS,
  });
  return {
    page: async ({ width = 1280, height = 860, dark = false, scale = 1 } = {}) => {
      const context: BrowserContext = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        deviceScaleFactor: scale,
        timezoneId: 'Europe/Berlin',
        locale: 'en-GB',
      });
      return context.newPage();
    },
    closePages: async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    close: () => browser.close(),
  };
}
