import { join } from 'node:path'

import { expect, test } from 'vitest'

import { tempFolder } from '../../../../../../test/kit/temp-home.ts'
import { createAccess } from '../../paths/access.ts'
import { createSandbox } from '../create-sandbox.ts'

test('the reasons of the newest 200 failed commands are remembered, and a command that fails again counts as new', async () => {
  const folder = await tempFolder()
  const access = await createAccess({ cwd: folder, home: '/nowhere', rules: [] })
  const { writing } = createSandbox({
    policy: { writes: true, network: [], required: false },
    access,
    env: { PATH: process.env['PATH'], HOME: folder },
    machine: { platform: process.platform, architecture: process.arch },
    quarantine: join(folder, 'quarantine'),
  })
  for (let i = 0; i < 200; i++) writing?.keepReason(`command ${i}`, `reason ${i}`)
  writing?.keepReason('command 0', 'once more')
  writing?.keepReason('command 200', 'reason 200')
  expect(
    ['command 0', 'command 1', 'command 2', 'command 200'].map((command) => writing?.reasonOf(command)),
  ).toEqual(['once more', undefined, 'reason 2', 'reason 200'])
})
