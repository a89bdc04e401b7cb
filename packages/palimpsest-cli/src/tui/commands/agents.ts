import { join } from 'node:path'

import { projectAgentFolders } from '../../agent/settings/trust.ts'
import { realPathOf } from '../../agent/paths/real-path.ts'
import { toPrintable } from '../../agent/printable.ts'
import { findAgentType } from '../../agents/kinds/agent-type.ts'
import {
  createAgentFile,
  editAgentFile,
  EDITED_FIELDS,
  nameProblem,
} from '../../agents/kinds/write-agent-file.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { note, tell, type CommandPlace } from './command-place.ts'
import { agentTypes } from './tell-state.ts'

const KNOWN_LATER = 'new conversations can use it (/clear starts one)'

/** `/agents create [NAME]`: asks for everything a type needs, and writes its file. */
export async function createType(typed: string, place: CommandPlace): Promise<undefined> {
  const { ui, conversation, world } = place
  const name = (typed || (await ui.ask('Name of the type (letters, digits, - and _):')))?.trim()
  if (name === undefined || name === '') return tell('nothing was written', place)
  const problem = nameProblem(name)
  if (problem !== undefined) return note(problem, place)
  const description = await ui.ask('When should it be used? The model decides by this:')
  if (description === undefined || description.trim() === '') return tell('nothing was written', place)
  const tools = await ui.ask('Tools, separated by commas; empty: the same as this conversation')
  if (tools === undefined) return tell('nothing was written', place)
  const model = await ui.ask('Model: an id, opus, sonnet or haiku; empty: the same as this conversation')
  if (model === undefined) return tell('nothing was written', place)
  const prompt = await ui.ask('Its prompt: who it is and how it works')
  if (prompt === undefined || prompt.trim() === '') return tell('nothing was written', place)
  const { project } = conversation.prepared.opened.project
  const [own = ''] = projectAgentFolders(await realPathOf(project))
  const user = join(await realPathOf(palimpsestHome(world)), 'agents')
  const folder = await ui.pick({
    title: 'Where should it be available?',
    items: [
      { label: `In this project (${toPrintable(own)})`, letter: 'p', value: own },
      { label: `In all your projects (${toPrintable(user)})`, letter: 'u', value: user },
    ],
  })
  if (folder === undefined) return tell('nothing was written', place)
  const path = await createAgentFile(folder, {
    name,
    description,
    tools: tools.trim(),
    model: model.trim(),
    prompt,
  })
  const trust = folder === own ? '; it is used only in trusted folders' : ''
  return tell(toPrintable(`wrote ${path}; ${KNOWN_LATER}${trust}`), place)
}

/** `/agents edit NAME`: one field after another, until the user is done. */
export async function editType(typed: string, place: CommandPlace): Promise<undefined> {
  const { ui } = place
  if (typed === '') return note('Edit which type? /agents lists them', place)
  const type = findAgentType(typed, (await agentTypes(place)).types)
  const { path } = type ?? {}
  if (!type || path === undefined)
    return note(
      type
        ? `${type.name} is built in; /agents create makes one of your own`
        : `no type "${typed}"; /agents lists them`,
      place,
    )
  const now = {
    description: type.description,
    tools: type.tools?.join(', ') ?? 'all',
    model: type.model ?? 'the same as the conversation',
  }
  const field = await ui.pick({
    title: toPrintable(`${type.name}, in ${path}; its prompt is below the front matter`),
    items: EDITED_FIELDS.map((name) => ({ label: toPrintable(`${name}: ${now[name]}`), value: name })),
  })
  const chosen = EDITED_FIELDS.find((name) => name === field)
  if (chosen === undefined) return undefined
  const value = await ui.ask(`${chosen}; empty removes it:`)
  if (value === undefined) return tell('nothing was changed', place)
  if (chosen === 'description' && value.trim() === '')
    return note('a type needs a description; nothing was changed', place)
  await editAgentFile(path, chosen, value)
  return tell(toPrintable(`changed ${path}; ${KNOWN_LATER}`), place)
}
