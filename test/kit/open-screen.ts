import { mkdir } from 'node:fs/promises'

import type { RunWishes } from '../../packages/palimpsest-cli/src/run/set-scene.ts'
import {
  hostConversation,
  type HostedConversation,
} from '../../packages/palimpsest-cli/src/tui/host/host-conversation.ts'
import type { CommandBench, CommandEnv } from './command-bench.ts'

/** What the screen shows and drives, without a terminal: a new conversation. */
export async function openScreen(bench: CommandBench, env: CommandEnv): Promise<HostedConversation> {
  const wishes: RunWishes = {
    prompt: '',
    cwd: bench.folder,
    session: { kind: 'new' },
    trust: false,
    allowed: [],
    roundsMax: 20,
    systemPrompt: {},
    debug: false,
  }
  await mkdir(bench.home, { recursive: true, mode: 0o700 })
  return await hostConversation(wishes, bench.home, bench.worldFor({ out: '', err: '' }, env))
}
