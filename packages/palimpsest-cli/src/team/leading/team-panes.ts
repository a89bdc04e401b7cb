import { commandEnvironment } from '../../agent/process/child-environment.ts'
import { runProcess, type ProcessEnd } from '../../agent/process/start-process.ts'
import type { World } from '../../world.ts'
import { outputPath, type TeamRecord } from '../team-record.ts'

// Inside tmux, each teammate has a pane beside the leader's that shows its output. The pane only shows: the teammate gets its keys from the
// leader's environment, which tmux does not know, and it outlives a closed pane.

export interface OpenedPanes {
  readonly panes: readonly string[]
  readonly notice?: string | undefined
}

type Terminal = Pick<World, 'env' | 'cwd'>

export async function openPanes(
  { name, members }: Pick<TeamRecord, 'name' | 'members'>,
  home: string,
  world: Terminal,
): Promise<OpenedPanes> {
  const own = world.env['TMUX_PANE'] ?? ''
  if (!world.env['TMUX'] || !PANE.test(own)) return { panes: [] }
  const panes: string[] = []
  for (const member of members) {
    const shown = ['tail', '-n', '+1', '-F', outputPath(home, name, member.name)]
    const end = await tmux(['split-window', '-d', '-t', own, '-P', '-F', '#{pane_id}', '--', ...shown], world)
    const pane = end.kind === 'exited' && end.code === 0 ? end.stdout.trim() : ''
    if (!PANE.test(pane)) {
      const why = end.kind === 'failed' ? end.message : end.stderr.trim()
      return { panes, notice: `tmux has no pane for ${member.name} (${why}); it works in the background` }
    }
    panes.push(pane)
    await tmux(['select-pane', '-t', pane, '-T', member.name], world)
    await tmux(['select-layout', '-t', own, 'main-vertical'], world)
  }
  return { panes }
}

export async function closePanes(panes: readonly string[], world: Terminal): Promise<void> {
  if (!world.env['TMUX']) return
  for (const pane of panes) if (PANE.test(pane)) await tmux(['kill-pane', '-t', pane], world)
}

const PANE = /^%[0-9]{1,9}$/
const TMUX_MS_MAX = 10_000
const TMUX_BYTES_MAX = 64 * 1024

async function tmux(args: readonly string[], { env, cwd }: Terminal): Promise<ProcessEnd> {
  const start = { program: 'tmux', args, cwd, env: commandEnvironment(env, cwd) }
  return await runProcess(start, { msMax: TMUX_MS_MAX, bytesMax: TMUX_BYTES_MAX })
}
