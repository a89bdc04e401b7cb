import { createSimulator, type Simulator } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { parseResponse } from '../../packages/palimpsest/src/wire/parse.ts'
import type { Judge } from './conversation.ts'

/** The simulator as a judge: it signs what it says, and refuses what is bound otherwise. */
export function simulatorJudge(options: SimulatorOptions = {}): { judge: Judge; simulator: Simulator } {
  const simulator = createSimulator({ clock: 'virtual', ...options })
  const judge: Judge = async ({ body, betas }, reply) => {
    simulator.addSteps([{ content: reply }])
    const answer = simulator.answer(body, betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {})
    simulator.advance(1000)
    if (answer.status !== 200) return { refused: `${answer.status} ${JSON.stringify(answer.body)}` }
    const parsed = parseResponse(answer.body)
    if (!parsed.ok) return { refused: `the answer is none: ${JSON.stringify(parsed.problem)}` }
    return { message: parsed.value, json: JSON.stringify(answer.body) }
  }
  return { judge, simulator }
}
