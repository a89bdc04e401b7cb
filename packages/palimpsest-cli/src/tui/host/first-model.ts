import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { OFFLINE_MODEL } from 'palimpsest/providers/offline'

import { toPrintable } from '../../agent/printable.ts'
import { setOwnModel } from '../../agent/settings/change-own-settings.ts'
import { offeredByKeys } from '../../run/models/choose-model.ts'
import type { RunWishes } from '../../run/set-scene.ts'
import type { World } from '../../world.ts'
import type { Ui } from '../ui.ts'

// A new user with several models to choose from is asked once. With one key, that one is used; with none, the session starts offline.

/** People read no more than this; /model has them all. */
const SHOWN_MAX = 8

/** Variables that name a model or an address: a user who sets one has chosen. */
const CHOSEN_BY = ['PALIMPSEST_MODEL', 'PALIMPSEST_BASE_URL', 'ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']

export async function askFirstModel(
  wishes: RunWishes,
  {
    ui,
    world,
    home,
  }: { readonly ui: Pick<Ui, 'pick'>; readonly world: Pick<World, 'env' | 'signal'>; readonly home: string },
): Promise<RunWishes> {
  if (wishes.model !== undefined || wishes.baseUrl !== undefined || wishes.session.kind !== 'new')
    return wishes
  if (CHOSEN_BY.some((name) => world.env[name]) || !(await isFirstRun(home))) return wishes
  const byKeys = offeredByKeys(world.env)
  if (byKeys.length === 1) return wishes
  // Imported here because later starts do not need it.
  const { findLocalModels } = await import('../../run/models/offered-models.ts')
  const local = await findLocalModels(world.env, world.signal)
  const items = [
    ...byKeys.map(({ name, by }) => ({ label: `${name}, by ${by}`, value: name })),
    ...local.map(({ name }) => ({ label: toPrintable(`${name}, on this machine`), value: name })),
  ].slice(0, SHOWN_MAX)
  if (items.length === 0) return wishes
  const picked = await ui.pick({
    title: 'Which model should answer? Your settings keep the choice; /model changes it.',
    items: [...items, { label: 'none yet: continue offline', value: OFFLINE_MODEL }],
  })
  if (picked === undefined || picked === OFFLINE_MODEL) return { ...wishes, model: OFFLINE_MODEL }
  await setOwnModel(home, picked)
  return { ...wishes, model: picked }
}

/** Nothing was said or set here yet. */
async function isFirstRun(home: string): Promise<boolean> {
  const found = await Promise.all(
    ['settings.json', 'projects'].map(async (name) => await stat(join(home, name)).catch(() => undefined)),
  )
  return found.every((one) => one === undefined)
}
