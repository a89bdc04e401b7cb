import {
  createKeeper,
  spentOn,
  type BesideTask,
  type KeeperSetup,
} from '../../../background/create-keeper.ts'
import type { PreparedKeeper, PreparedLimits } from '../../../background/keepers.ts'
import type { Ports, RunFork } from '../../../ports.ts'
import { preparedWish, readPrepared, type PreparedWish } from './prepared-for.ts'

// A fork of the conversation writes a summary in parallel while the conversation nears the threshold. The summary is kept until a
// compaction looks for it.

export interface PreparedSetup extends KeeperSetup {
  readonly ports: KeeperSetup['ports'] & Pick<Ports, 'flags'>
  readonly runFork: RunFork
}

export function createPreparedKeeper(setup: PreparedSetup): PreparedKeeper {
  const { ports, runFork } = setup
  const task: BesideTask<PreparedLimits, PreparedWish, string> = {
    name: 'prepared',
    plan: (view, limits) => preparedWish(view, limits, ports.flags),
    run: async ({ prompt }, signal) => {
      const message = JSON.stringify({ role: 'user', content: prompt })
      const outcome = await runFork({ source: 'compact', messages: [message], needsCache: true }, signal)
      const made = readPrepared(outcome)
      return {
        made,
        spent: spentOn(outcome, 'prepared'),
        reason: outcome.kind,
        hasFailed: made === undefined,
      }
    },
  }
  return createKeeper(task, setup)
}
