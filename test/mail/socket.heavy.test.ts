import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import type { Letter } from '../../packages/palimpsest/src/layers/7-agents/mail/letter.ts'
import { listenForLetters, sendToSocket } from '../../packages/palimpsest/src/node/mailbox/session-socket.ts'
import { tempProject } from '../kit/temp-home.ts'

// Sessions of one user that write to each other through sockets.

const SESSION = '11111111-2222-3333-4444-555555555555'
const SENDER = '99999999-2222-3333-4444-555555555555'
const letter = { id: 'l-1', from: SENDER, at: 1, summary: 'a word', message: 'hello' }

async function open(accept: (taken: Letter) => Promise<void> = async () => undefined) {
  const { home } = await tempProject()
  const got: Letter[] = []
  const socket = await listenForLetters({
    home,
    session: SESSION,
    accept: async (taken) => {
      await accept(taken)
      got.push(taken)
    },
  })
  onTestFinished(async () => await socket.close())
  return { home, socket, got }
}

/** What is answered to these bytes. */
async function say(path: string, bytes: string | Buffer): Promise<string> {
  return await new Promise((resolve, reject) => {
    let answer = ''
    const peer = connect(path, () => peer.write(bytes))
    peer.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    peer.once('close', () => resolve(answer.trim()))
    peer.once('error', reject)
    peer.once('end', () => peer.destroy())
  })
}

describe('the socket of a session', () => {
  test('accepts a message, stores it before confirming it, and says why if it cannot be stored', async () => {
    const { socket, got } = await open()
    await sendToSocket(socket.path, letter)
    expect(got).toEqual([{ ...letter, to: SESSION }])
    const modes = await Promise.all([lstat(socket.path), lstat(join(socket.path, '..'))])
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['600', '700'])
    const full = await open(async () => {
      throw new Error('no space is left')
    })
    await expect(sendToSocket(full.socket.path, letter)).rejects.toThrow('no space is left')
  })

  test('accepts nothing that is malformed, unsigned, for somebody else or larger than any message', async () => {
    const { socket, got } = await open()
    const whole = { ...letter, to: SESSION }
    expect([
      await say(socket.path, 'no json\n'),
      await say(socket.path, `${JSON.stringify({ letter: { ...whole, from: '../x' } })}\n`),
      await say(socket.path, `${JSON.stringify({ letter: whole, signature: 'f'.repeat(64) })}\n`),
      await say(socket.path, `${JSON.stringify({ letter: { ...whole, to: 'bob' }, signature: '' })}\n`),
      await say(socket.path, Buffer.alloc(700_000, 'x')),
    ]).toEqual([
      'it is no JSON object',
      'it does not say who sent it',
      'nothing proves that a session of this user sent it',
      'it is for bob',
      'it is larger than any message',
    ])
    expect(got).toEqual([])
  })

  test('sends nothing if others could listen: an open folder, a link, a file, nobody there', async () => {
    const { home, socket } = await open()
    const run = join(home, 'run')
    await symlink(run, join(home, 'link'))
    await expect(sendToSocket(join(home, 'link', `${SESSION}.sock`), letter)).rejects.toThrow('is no folder')
    await writeFile(join(run, `${SENDER}.sock`), '')
    await expect(sendToSocket(join(run, `${SENDER}.sock`), letter)).rejects.toThrow('is no socket')
    await expect(sendToSocket(join(run, 'none.sock'), letter)).rejects.toThrow('that session has ended')
    await expect(sendToSocket('run/x.sock', letter)).rejects.toThrow('takes the whole path')
    await chmod(run, 0o755)
    await expect(sendToSocket(socket.path, letter)).rejects.toThrow('others can reach')
    await expect(listenForLetters({ home, session: SENDER, accept: async () => undefined })).rejects.toThrow(
      'others can reach',
    )
  })

  test('removes what a killed process left, leaves that of a living one alone, and names a home whose path is too long', async () => {
    const { home, socket } = await open()
    await expect(listenForLetters({ home, session: SESSION, accept: async () => undefined })).rejects.toThrow(
      'somebody listens',
    )
    const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
    const stale = join(home, 'run', `${SENDER}.sock`)
    spawnSync(process.execPath, ['-e', script, stale])
    expect(await readdir(join(home, 'run'))).toContain(`${SENDER}.sock`)
    const again = await listenForLetters({ home, session: SENDER, accept: async () => undefined })
    await sendToSocket(stale, letter)
    await again.close()
    expect(socket.path).toContain(SESSION)
    const long = join(home, 'x'.repeat(90))
    await mkdir(long, { mode: 0o700 })
    await expect(
      listenForLetters({ home: long, session: SESSION, accept: async () => undefined }),
    ).rejects.toThrow('Choose a shorter PALIMPSEST_HOME')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'admits no other user, whatever the modes of the folders above (as root: it becomes another user)',
    async () => {
      const { home, socket, got } = await open()
      execFileSync('chmod', ['755', join(home, '..'), home])
      const script = `const p = require('node:net').connect(process.argv[1], () => { console.log('in'); p.end() }); p.on('error', (e) => console.log(e.code))`
      const tried = spawnSync(process.execPath, ['-e', script, socket.path], { uid: 65534, gid: 65534 })
      expect([tried.stdout.toString().trim(), tried.error?.message]).toEqual(['EACCES', undefined])
      expect(got).toEqual([])
    },
  )
})
