// A share of the screens; all of them are in hostile.exhaustive.

import { describeHostile } from './hostile.ts'
import { SCREENS } from './screens.ts'

describeHostile(SCREENS.filter((_, i) => i % 3 === 0))
