import { print } from './figure.ts'
import { benchRound } from './round.ts'
import { benchWire } from './wire.ts'

// `npm run bench`: every benchmark, one after the other. A ratio over its bound fails the run; a time never does.

const results = [print('One more round', benchRound()), print('JSON text', await benchWire())]
process.exitCode = results.every(Boolean) ? 0 : 1
