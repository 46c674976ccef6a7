// What may not be part of a page, on every screen.

import { describeHostile } from './hostile.ts'
import { SCREENS } from './screens.ts'

describeHostile(SCREENS)
