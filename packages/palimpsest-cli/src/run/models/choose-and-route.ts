import type { StreamModel } from 'palimpsest'
import { createOfflineModel, OFFLINE_MODEL } from 'palimpsest/providers/offline'

import type { World } from '../../world.ts'
import { serverOf } from './chat-servers.ts'
import { chooseModel, type ChosenModel, type ModelWishes } from './choose-model.ts'

/**
 * The chosen model. A request that names another model goes to that model's server: the one from before a switch, or the one for summaries.
 */
export function chooseAndRoute(wishes: ModelWishes, world: Pick<World, 'env'>): ChosenModel {
  const chosen = chooseModel(wishes, world)
  const others = new Map<string, StreamModel>()
  const findOther = (model: string): StreamModel => {
    const known = others.get(model)
    if (known) return known
    // The given address belongs to the chosen model.
    const other = chooseModel({ ...wishes, model, baseUrl: undefined }, world)
    // Never asks for a model under a different name. If the model cannot be reached any more, the offline model extracts instead.
    const stream = other.model === model ? other.streamModel : createOfflineModel()
    others.set(model, stream)
    return stream
  }
  const streamModel: StreamModel = (request, signal) =>
    (isAskedThere(request.model, chosen) ? chosen.streamModel : findOther(request.model))(request, signal)
  return { ...chosen, streamModel }
}

function isAskedThere(model: string, chosen: ChosenModel): boolean {
  if (model === chosen.model) return true
  const [here, there] = [model, chosen.model].map((name) => (name === OFFLINE_MODEL ? name : serverOf(name)))
  return here === there
}
