import { existsSync } from 'node:fs'

import { chromium, type Browser } from 'playwright-core'

// A browser that the machine has; none is downloaded.

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Undefined where the machine has none. */
export function findChromium(): string | undefined {
  return PLACES.find((place) => existsSync(place))
}

/** Without its sandbox, which a container does not allow: it opens pages of our own making alone. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}
