import { toPrintable } from '../../agent/printable.ts'
import { setOwnModel } from '../../agent/settings/change-own-settings.ts'
import { serverOf } from '../../run/models/chat-servers.ts'
import { offerModels, type OfferedModel } from '../../run/models/offered-models.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { shortCount } from '../screen/status-line.ts'
import { tell, type CommandEnd, type CommandPlace } from './command-place.ts'

const OWN_NAME = '\0own'

/** Takes a name, or shows a list with windows and prices. For a smaller window, the conversation is compacted with the next message. */
export async function changeModel(named: string, place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes } = place
  const model = named || (await pickModel(place)) || ''
  if (model === '' || model === conversation.facts.model)
    return tell(`the model is ${conversation.facts.model}`, place)
  const lasts = named === '' && (await isForGood(model, place))
  if (lasts) await setOwnModel(palimpsestHome(place.world), model)
  const session =
    conversation.log().length === 0
      ? ({ kind: 'new' } as const)
      : ({ kind: 'resume', which: conversation.id } as const)
  const { baseUrl: givenUrl } = wishes.chosen ?? wishes
  // A given address belongs to the provider it was given for.
  const baseUrl = serverOf(model) === serverOf(conversation.facts.model) ? givenUrl : undefined
  const others = lasts ? { ...wishes, model: undefined, baseUrl } : wishes
  return { next: { ...others, chosen: { model, baseUrl }, session } }
}

async function pickModel({ conversation, ui, world }: CommandPlace): Promise<string | undefined> {
  const { model } = conversation.facts
  ui.setLive({ activity: 'Looking for models' })
  const offered = await offerModels(
    { env: world.env, listModels: conversation.prepared.listModels },
    world.signal,
  ).finally(() => ui.setLive({ activity: '' }))
  const width = Math.max(...offered.map(({ name }) => name.length))
  const picked = await ui.pick({
    title: `The model is ${toPrintable(model)}. Which one from now on?`,
    items: [
      ...currentFirst(offered, model).map((one) => ({ label: offerText(one, width), value: one.name })),
      { label: 'another one, by its name', value: OWN_NAME },
    ],
    isSearched: true,
  })
  return picked === OWN_NAME ? await ui.ask('Its name, for example openrouter/qwen/qwen3-coder:') : picked
}

/** Puts the current model first: pressing Enter at once changes nothing. */
function currentFirst(offered: readonly OfferedModel[], model: string): readonly OfferedModel[] {
  const isCurrent = ({ name }: OfferedModel): boolean => name === model
  return [...offered.filter(isCurrent), ...offered.filter((one) => !isCurrent(one))]
}

function offerText({ name, windowTokens, inputUsd, outputUsd }: OfferedModel, width: number): string {
  const window =
    windowTokens === undefined ? '' : `window ${shortCount(windowTokens).padStart(WINDOW_COLUMNS)}`
  const price =
    inputUsd === undefined || outputUsd === undefined
      ? ''
      : `$${money(inputUsd)} in, $${money(outputUsd)} out per million tokens`
  return toPrintable([name.padEnd(width), window, price].join('  ').trimEnd())
}

const WINDOW_COLUMNS = 5

function money(usd: number): string {
  return String(Number(usd.toFixed(2)))
}

async function isForGood(model: string, { ui }: CommandPlace): Promise<boolean> {
  const answer = await ui.pick({
    title: `Use ${toPrintable(model)}`,
    items: [
      { label: 'in this conversation', letter: 't', value: 'once' },
      { label: 'from now on, in new ones too (kept in your settings)', letter: 'a', value: 'always' },
    ],
  })
  return answer === 'always'
}
