import { benchContext } from './context.ts'
import { benchDreamTurn } from './dream-turn.ts'
import { print } from './figure.ts'
import { benchLayers } from './layers.ts'
import { benchOpen } from './open.ts'
import { benchRecallTurn } from './recall-turn.ts'
import { benchRound } from './round.ts'
import { benchTerminal } from './terminal.ts'
import { benchWire } from './wire.ts'

// `npm run bench`: every benchmark, one after the other. What has a bound and is over it fails the run.

const results = [
  print('One more round', benchRound()),
  print('A history of the owner', await benchContext()),
  print('The first two layers', await benchLayers()),
  print('Opening a long session', await benchOpen()),
  print('JSON text', await benchWire()),
  print('On a terminal', await benchTerminal()),
  print('A turn beside the recall index', await benchRecallTurn()),
  print('A turn beside a dream', await benchDreamTurn()),
]
process.exitCode = results.every(Boolean) ? 0 : 1
