// palimpsest/tokens: how large a conversation is, how large it may be, and where the thresholds are.

import '../require-runtime.ts'

export { factorOf, observe, startCalibration } from './calibrate.ts'
export type { Calibration, CalibrationSample } from './calibrate.ts'
export { countTokens, findAnchor } from './count.ts'
export type { Anchor, CountedMessage } from './count.ts'
export { estimateBlock, estimateText } from './estimate.ts'
export { doubtLimit, limitNamed } from './doubt-limit.ts'
export type { LimitDoubt, Refused } from './doubt-limit.ts'
export { learnedKey, NO_MODELS, resolveModel, withReportedModels } from './models.ts'
export type { Models, ReportedModel, ResolvedModel } from './models.ts'
export {
  parsePercent,
  parseSwitch,
  parseTokens,
  parseWorkingWindow,
  readCompactionSwitches,
} from './setting.ts'
export type { CompactionSwitches, Setting } from './setting.ts'
export { fullAt } from '../situation/is-full.ts'
export { computeThresholds, reportContext } from '../situation/thresholds.ts'
export type { ContextReport, ThresholdOverrides, Thresholds } from '../situation/thresholds.ts'
export { computeWindow, WORKING_WINDOW_DEFAULT } from '../situation/window.ts'
export type { Window, WindowSettings } from '../situation/window.ts'
