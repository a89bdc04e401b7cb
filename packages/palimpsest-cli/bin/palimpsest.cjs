#!/usr/bin/env node
/// <reference types="node" />
'use strict'

// Plain and old JavaScript: a Node that is too old must get as far as the sentence, and not die of what it does not know. Everything
// else is loaded after it.

const found = process.versions.node
const parts = found.split('.').map(Number)
// As `engines` has it: ^22.16 || >=24.
const isNewEnough = (parts[0] === 22 && parts[1] >= 16) || parts[0] >= 24

if (isNewEnough) {
  import('../dist/main.js').catch((/** @type {unknown} */ error) => {
    const text = error instanceof Error ? error.message.split('\n')[0] : String(error)
    end(
      1,
      `the installation is damaged: ${text}. Install it again, for example with \`npm install -g palimpsest-cli\``,
    )
  })
} else {
  end(
    2,
    `this is Node ${found}; Palimpsest needs Node 22.16 or later in the 22 line, or Node 24 and later. Install one (https://nodejs.org, or \`nvm install 24\`) and run the command again`,
  )
}

/**
 * @param {number} exitCode
 * @param {string} text
 */
function end(exitCode, text) {
  process.stderr.write(`palimpsest: ${text}\n`)
  process.exitCode = exitCode
}
