import { claudeCode, run } from '@ai-hero/sandcastle'
import { noSandbox } from '@ai-hero/sandcastle/sandboxes/no-sandbox'

// Drives an agent as its makers wrote it to drive Claude Code: it starts `claude` from the PATH, reads its stream-json, and resumes the
// session it saw. Takes model, folder, log file and prompts; prints what it understood.

const [model = '', cwd = '', path = '', prompt = '', ...later] = process.argv.slice(2)
const agent = claudeCode(model, { permissionMode: 'acceptEdits' })
const first = await run({ agent, sandbox: noSandbox(), cwd, prompt, logging: { type: 'file', path } })
const results = [first]
for (const next of later) {
  const resumed = await results.at(-1)?.resume?.(next, { logging: { type: 'file', path } })
  if (resumed) results.push(resumed)
}
process.stdout.write(
  `${JSON.stringify(results.map(({ iterations, stdout, completionSignal }) => ({ iterations, stdout, completionSignal })))}\n`,
)
