import { BY_SETTING } from './by-setting.ts'
import type { EvilRepository } from './evil-repository.ts'
import { FETCHED_OR_SHOWN } from './fetched-or-shown.ts'
import { FROM_ELSEWHERE } from './from-elsewhere.ts'

export const EVIL_REPOSITORIES: readonly EvilRepository[] = [
  ...BY_SETTING,
  ...FROM_ELSEWHERE,
  ...FETCHED_OR_SHOWN,
]
