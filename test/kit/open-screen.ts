import { mkdir } from 'node:fs/promises'

import type { RunWishes } from '../../packages/palimpsest-cli/src/run/set-scene.ts'
import {
  openConversation,
  type Conversation,
} from '../../packages/palimpsest-cli/src/tui/host/open-conversation.ts'
import type { CommandBench, CommandEnv } from './command-bench.ts'

/** What the screen shows and drives, without a terminal: a new conversation. */
export async function openScreen(bench: CommandBench, env: CommandEnv): Promise<Conversation> {
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
  return await openConversation(wishes, bench.home, bench.worldFor({ out: '', err: '' }, env))
}
