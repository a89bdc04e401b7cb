// palimpsest/providers/offline: the embedded extractive model. No network, no key, no weights.

export { createOfflineModel, OFFLINE_MODEL } from './create-offline-model.ts'
