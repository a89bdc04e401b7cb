import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

import { UsageError } from 'palimpsest'
import type { LoopTool, Permit } from 'palimpsest/loop'

import { createAccess } from './paths/access.ts'
import { createPermit, type PermissionAnswer, type PermissionQuestion } from './permissions/create-permit.ts'
import type { PermissionMode } from './permissions/permission-mode.ts'
import { parseRule, type Rule, type RuleEffect } from './permissions/rule.ts'
import { commandEnvironment, type Environment } from './process/child-environment.ts'
import { createSandbox } from './sandbox/create-sandbox.ts'
import type { SandboxPolicy } from './sandbox/sandbox.ts'
import { createShells } from './shell/shells.ts'
import { createTools } from './tools/create-tools.ts'

// The command's own tools for an agent of the library (`palimpsest-cli/tools`), with the permit that belongs to them. The tools act only on
// what the permit granted, so neither is of use without the other.

export interface CodingToolsOptions {
  /** The folder to work in. */
  readonly cwd: string
  /** As `--permission-mode`. Absent: `default`, which asks about calls that write or run something. */
  readonly mode?: PermissionMode | undefined
  /** Rules such as `Bash(npm test)`, `Read(~/notes/**)`. */
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  /** Called before anything that needs a yes. Absent: such calls are refused, and the model reads why. */
  readonly ask?:
    | ((question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>)
    | undefined
  /** Where unasked commands run. Absent: in a sandbox, if there is one. */
  readonly sandbox?: SandboxPolicy | undefined
  /** `process.env`, or the part of it that commands may see. Keys are removed. */
  readonly env: Environment
}

export interface CodingTools {
  /** For `createAgent({ tools, permit })`. */
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  /** Ends commands that still run, and removes what the tools stored for themselves. */
  readonly close: () => Promise<void>
}

/** The usual refusal names flags of the command, which do not help users of the library. */
const NOBODY: NonNullable<CodingToolsOptions['ask']> = async () => ({
  kind: 'no',
  words: 'This program asks nobody. It would have to allow the call, by `mode` or by a rule in `allow`.',
})

/** Not useful here: no user for a tool to ask, no plan mode, no agents to start or write to, and the library has its own recall. */
const LEFT_OUT = new Set([
  'AskUser',
  'ExitPlanMode',
  'Recall',
  'Agent',
  'SendMessage',
  'BashOutput',
  'KillShell',
])

/**
 * Read, Write, Edit, Bash, Grep, Glob, WebFetch and TodoWrite, as the command has them, and the permit that decides whether a call may run.
 *
 * @example
 * const { tools, permit, close } = await codingTools({ cwd: process.cwd(), env: process.env })
 * const agent = createAgent({ client, model, tools, permit })
 */
export async function codingTools(options: CodingToolsOptions): Promise<CodingTools> {
  const { cwd, env, ask = NOBODY, mode = 'default', sandbox: policy = 'auto' } = options
  const rules = [...rulesOf(options.deny, 'deny'), ...rulesOf(options.allow, 'allow')]
  const ownHome = env['PALIMPSEST_HOME'] ?? join(homedir(), '.palimpsest')
  const access = await createAccess({ cwd, home: homedir(), ownHome, rules })
  const machine = { platform: process.platform, architecture: process.arch }
  const shells = createShells()
  const sessionFolder = await mkdtemp(join(tmpdir(), 'palimpsest-tools-'))
  const quarantine = join(sessionFolder, 'quarantine')
  const sandbox = createSandbox({ policy, access, env, machine, quarantine })
  const made = createTools({ access, sandbox, sessionFolder, shells, env, now: Date.now })
  return {
    tools: made.filter(({ name }) => !LEFT_OUT.has(name)),
    permit: createPermit({
      access,
      mode,
      isTrusted: false,
      sandbox,
      env: commandEnvironment(env, access.cwd),
      protectedFolders: [ownHome],
      ask,
    }),
    close: async () => {
      await shells.killAll()
      await sandbox.writing?.close()
      await rm(sessionFolder, { recursive: true, force: true })
    },
  }
}

function rulesOf(texts: readonly string[] = [], effect: RuleEffect): readonly Rule[] {
  return texts.map((text) => {
    const parsed = parseRule(text, effect)
    if (!parsed.ok) throw new UsageError(`${parsed.message}.`)
    return parsed.rule
  })
}
