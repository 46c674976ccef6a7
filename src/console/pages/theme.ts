// Light, dark, or as the system says: kept in a cookie of its own, which is no secret.

import { setTheme, THEMES } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { pathIn } from '../paths.ts'

/** For whoever comes: it changes nothing but the colours of this browser. */
export function addThemes(pages: Pages, door: ConsoleDoor): void {
  pages.post('/theme', { config: { page: 'theme' } }, async (request, reply) => {
    const { theme, to } = fieldsOf(request)
    const wanted = THEMES.find((one) => one === theme)
    if (wanted === undefined) throw new PageError(422, 'There is no such theme. Nothing was changed.')
    setTheme(reply, door, wanted)
    return reply.redirect(pathIn(to), 303)
  })
}
