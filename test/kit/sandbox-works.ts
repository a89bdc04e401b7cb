import { trySandbox } from '../../packages/palimpsest-cli/src/agent/sandbox/try-sandbox.ts'
import { readingEnvironment } from '../../packages/palimpsest-cli/src/agent/process/child-environment.ts'

let tried: Promise<boolean> | undefined

/** Whether there is a sandbox on this machine. Tests that need one are skipped without, and this says so once. */
export function sandboxWorks(): Promise<boolean> {
  tried ??= look()
  return tried
}

async function look(): Promise<boolean> {
  const machine = { platform: process.platform, architecture: process.arch }
  const found = await trySandbox(readingEnvironment(process.env, []), machine)
  if (!found.works) process.stderr.write(`tests of the sandbox are skipped: ${found.why}; ${found.cure}\n`)
  return found.works
}
