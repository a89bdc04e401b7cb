import { setTimeout as sleep } from 'node:timers/promises'

import { knownLetters, takeMail } from '../../packages/palimpsest/src/layers/7-agents/mail/take-mail.ts'
import { openProject } from '../../packages/palimpsest/src/node/files/paths.ts'
import { openFileMailbox } from '../../packages/palimpsest/src/node/mailbox/file-mailbox.ts'
import {
  createTranscript,
  openTranscript,
} from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'

// An agent in a process of its own that sends and receives until it is killed, and goes on where it was. What it is about to send is in its
// transcript first, as a call is; of the last one it cannot know whether it went, so it sends it again.

const [home = '', cwd = '', self = '', others = '', total = '0'] = process.argv.slice(2)
const project = await openProject(home, cwd)
const options = { project, sessionId: self, cwd, version: '0.0.0', now: Date.now, sync: 'close' as const }
const opened = await openTranscript(options).catch(async () => ({
  file: await createTranscript(options),
  loaded: undefined,
}))
const log: Entry[] = [...(opened.loaded?.entries ?? [])]
const known = new Set(knownLetters(log))
const mailbox = await openFileMailbox({ home, team: 'team', self })
const peers = others.split(',')
let sent = log.filter(({ kind }) => kind === 'pin').length - 1

async function append(bodies: readonly object[]): Promise<void> {
  const entries = bodies.map((body) => {
    const entry = {
      ...body,
      id: `${self}-e${log.length}`,
      parent: log.at(-1)?.id ?? null,
      at: Date.now(),
    } as Entry
    log.push(entry)
    return entry
  })
  await opened.file.append(entries)
}

async function sendNumber(n: number): Promise<void> {
  const to = peers[n % peers.length] ?? ''
  await mailbox.send({
    id: `${self}-${n}`,
    from: self,
    to,
    at: Date.now(),
    summary: `number ${n}`,
    message: `text ${n}`,
  })
}

process.stdout.write('up\n')
if (sent >= 0) await sendNumber(sent)
for (;;) {
  if (sent + 1 < Number(total)) {
    sent++
    // Any entry that says how far it is.
    await append([{ kind: 'pin', target: { entry: `${self}-${sent}`, index: 0 }, on: true }])
    await sendNumber(sent)
  }
  const { letters } = await takeMail(mailbox, (id) => known.has(id), append)
  for (const { id } of letters) known.add(id)
  if (letters.length === 0 && sent + 1 >= Number(total)) {
    process.stdout.write(`idle ${known.size}\n`)
    await sleep(50)
  }
}
