import { homedir } from 'node:os'
import { join, normalize } from 'node:path'
import { parseArgs } from 'node:util'

import { createAccess, type Access } from '../../packages/palimpsest-cli/src/agent/paths/access.ts'
import { findUnaskedWay } from '../../packages/palimpsest-cli/src/agent/permissions/unasked-way.ts'
import type { Sandbox } from '../../packages/palimpsest-cli/src/agent/sandbox/sandbox.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'
import { recordedCommands, type RecordedCommand } from './recorded-commands.ts'

// How many of the commands of recorded sessions would have run without a question.
//   npm run bench:unasked [-- --before FOLDER]
// FOLDER is a checkout of an earlier commit, whose list of harmless commands is put beside; without one it is what such a run once said. The sessions
// are other people's: their folders are not on this machine, so a path that looks like one of a machine counts as there, and programs count as the
// system's own. Ends with 1 where the sandbox brings more questions than there were.

type IsUnasked = (command: string, access: Access) => Promise<boolean>

const { values } = parseArgs({ options: { before: { type: 'string' } } })
const commands = recordedCommands()
const home = homedir()
const OF_A_MACHINE =
  /^\/(Users|home|root|tmp|private|var|etc|opt|mnt|srv|run|dev|proc|Applications|Library|Volumes|usr|bin|sbin|lib\w*)(\/|$)/

/** What `--before` counted in `git archive b335ea1 packages` (with a link to node_modules beside): of this many commands, this many ran unasked. */
const BEFORE = { commands: 5435, unasked: 1976 }

if (commands.length === 0) {
  process.stderr.write(`There are no recorded sessions in ${RECORDED_DATA}.\n`)
  process.exit(1)
}
const before = await countBefore()
const enclosed = await countWith(nowWith(true, false))
const rows: (readonly [string, number])[] = [
  ...(before === undefined ? [] : [['before', before] as const]),
  ['now, with the sandbox', enclosed],
  ['now, without, the folder trusted', await countWith(nowWith(false, true))],
  ['now, without, the folder not trusted', await countWith(nowWith(false, false))],
]
process.stdout.write(
  `${commands.length} commands of recorded sessions\n\n| | unasked | share | questions |\n| --- | --- | --- | --- |\n`,
)
for (const [name, count] of rows)
  process.stdout.write(
    `| ${name} | ${count} | ${((100 * count) / commands.length).toFixed(1)}% | ${commands.length - count} |\n`,
  )

if (before === undefined)
  process.stdout.write('\nThese are not the sessions that were counted before: give --before to compare.\n')
else if (enclosed < before) {
  process.stderr.write('\nWith the sandbox there are more questions than before.\n')
  process.exitCode = 1
}

/** Undefined: nobody has counted these. */
async function countBefore(): Promise<number | undefined> {
  if (values.before !== undefined) return await countWith(await beforeIn(values.before))
  return commands.length === BEFORE.commands ? BEFORE.unasked : undefined
}

async function countWith(isUnasked: IsUnasked): Promise<number> {
  const accesses = new Map<string, Access>()
  let count = 0
  for (const { command, cwd } of commands) {
    const access = accesses.get(cwd) ?? (await accessOf({ command, cwd }))
    accesses.set(cwd, access)
    if (await isUnasked(command, access)) count++
  }
  return count
}

async function accessOf({ cwd }: RecordedCommand): Promise<Access> {
  const user = /^\/(?:Users|home)\/[^/]+/.exec(cwd)?.[0] ?? home
  return await createAccess({ cwd, home: user, rules: [] })
}

function nowWith(hasSandbox: boolean, isTrusted: boolean): IsUnasked {
  const sandbox: Sandbox = {
    policy: hasSandbox ? 'auto' : 'off',
    state: async () => ({ works: false, why: '', cure: '' }),
    problem: async () => (hasSandbox ? undefined : { why: '', cure: '' }),
    enclose: async () => ({ ok: false, why: '' }),
    showsSystem: async (path) => /^\/(usr|bin|sbin|lib\w*)(\/|$)/.test(path),
    variables: {},
  }
  return async (command, access) => {
    const policy = { access, sandbox, env: { PATH: '' }, isTrusted, hidesFiles: false, realPath: assumed }
    return (await findUnaskedWay({ command, isOutside: false }, policy)).ok
  }
}

async function assumed(path: string): Promise<string | undefined> {
  const plain = normalize(path).replace(/(.)\/$/, '$1')
  return OF_A_MACHINE.test(plain) || plain.startsWith('/work') ? plain : undefined
}

/** The rules of a checkout from before there was a sandbox. */
async function beforeIn(folder: string): Promise<IsUnasked> {
  const agent = join(folder, 'packages/palimpsest-cli/src/agent')
  const { readsOnly } = await import(join(agent, 'command/reads-only.ts'))
  const { findReadingConcern } = await import(join(agent, 'permissions/find-reading-concern.ts'))
  return async (command, access) =>
    (await findReadingConcern(readsOnly(command), { access, isTrusted: false, hidesFiles: false })) ===
    undefined
}
