import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A project's folder as it lies on disk, with transcripts of our form.

export interface WrittenLine {
  readonly id: string
  readonly at: number
  readonly role: 'user' | 'assistant'
  readonly content: unknown
}

export interface WrittenSession {
  readonly id: string
  readonly lines: readonly WrittenLine[]
}

export interface WrittenProject {
  readonly home: string
  readonly folder: string
  readonly remove: () => Promise<void>
}

export async function writeProject(sessions: readonly WrittenSession[]): Promise<WrittenProject> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-bench-recall-')))
  const folder = join(home, 'projects', 'bench')
  await mkdir(folder, { recursive: true })
  for (const { id, lines } of sessions) {
    const texts = lines.map((line, i) => toLine(id, line, lines[i - 1]?.id ?? null))
    await writeFile(join(folder, `${id}.jsonl`), texts.join(''))
  }
  return { home, folder, remove: async () => await rm(home, { recursive: true }) }
}

export function toLine(
  session: string,
  { id, at, role, content }: WrittenLine,
  parent: string | null,
): string {
  const line = {
    ...{
      uuid: id,
      parentUuid: parent,
      sessionId: session,
      timestamp: new Date(at).toISOString(),
      type: role,
    },
    message: { role, content },
  }
  return `${JSON.stringify(line)}\n`
}
