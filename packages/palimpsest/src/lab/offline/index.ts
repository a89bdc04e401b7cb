// palimpsest/providers/offline: the embedded extractive model. No network, no key, no weights.

import '../../require-runtime.ts'

export { createOfflineModel, OFFLINE_MODEL } from './create-offline-model.ts'
