import type { OpenedFlags } from '../flags/open-flags.ts'
import type { Dreaming } from '../dream/dreaming-for.ts'
import type { KeptIndex } from '../recall/keep-indexed.ts'
import type { Agents } from '../agents/agent-host.ts'
import type { ModelListKeeper } from './models/reported-models.ts'
import type { Scene } from './set-scene.ts'

interface Started extends Pick<Scene, 'opened' | 'shells' | 'sandbox' | 'hooks' | 'recall'> {
  readonly index: KeptIndex
  readonly agents: Pick<Agents, 'closePost'>
  readonly dreaming: Dreaming
  readonly flags: OpenedFlags
  readonly modelList: ModelListKeeper
}

/** Stops everything started for a run, and closes its session. */
export function closeAll({
  opened,
  shells,
  sandbox,
  hooks,
  recall,
  agents,
  flags,
  modelList,
  index,
  dreaming,
}: Started): (isKept?: boolean) => Promise<void> {
  return async (isKept = true) => {
    await agents.closePost()
    await dreaming.close()
    flags.close()
    await index.close()
    recall.close()
    await modelList.close()
    await shells.killAll()
    await sandbox.writing?.close()
    await hooks.close()
    await (isKept ? opened.file.close() : opened.giveUp())
  }
}
