// A screen in the browser, as somebody who may see it.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeOf, type Open, overflowOf, picture, type Seen, type Visit } from '../../fixtures/browser.ts'
import { type Desk, openDesk } from './desk.ts'
import type { Screen } from './screens.ts'

export interface Brought {
  readonly desk: Desk
  readonly path: string
  /** Who looks. */
  readonly person: string
}

/** `text`: what the desk writes wherever somebody else may have written something. The desk is closed by who called. */
export async function bring(screen: Screen, text: Desk['text'], person = 'ann'): Promise<Brought> {
  const desk = await openDesk(text, screen.wanted)
  if (screen.as !== null) await desk.person(person, screen.as)
  return { desk, path: await screen.at(desk), person }
}

export async function look(
  open: Open,
  { desk, path, person }: Brought,
  screen: Screen,
  seen: Seen = {},
): Promise<Visit> {
  const visit = await open(desk.url, seen)
  if (screen.as !== null) await desk.enter(visit.context, person)
  await visit.page.goto(`${desk.url}${path}`)
  await screen.does?.(visit.page, desk)
  return visit
}

export type Way = readonly [width: number, scheme: 'light' | 'dark']

/** Each way it is looked at, it can be read by everybody; and it is no wider than the narrowest window. */
export async function expectReadable(page: Page, name: string, ways: readonly Way[]): Promise<void> {
  for (const [width, colorScheme] of ways) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    expect(await axeOf(page), `${width} px, ${colorScheme}`).toEqual([])
    await picture(page, `${name} ${width} ${colorScheme}`)
  }
  await page.setViewportSize({ width: 320, height: 800 })
  expect(await overflowOf(page), 'pixels too wide at 320').toBe(0)
  expect(await sidewaysOf(page), 'tables whose rows stand below each other, and scroll at 320').toEqual([])
}

function sidewaysOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('.wide')].flatMap((one) =>
    one.scrollWidth > one.clientWidth ? [one.getAttribute('aria-label')] : [])`)
}

/** Elements and the names of their attributes, as they are nested, without anything that was written into them. */
export function shapeOf(page: Page): Promise<string> {
  return page.evaluate(`(function shape(element) {
    const names = element.getAttributeNames().toSorted().join(' ')
    return element.localName + '[' + names + '](' + [...element.children].map(shape).join('') + ')'
  })(document.documentElement)`)
}

/** Where the page leads, sends to and loads from. */
export function targetsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('[href], [action], [formaction], [src], [data]')].flatMap((one) =>
    ['href', 'action', 'formaction', 'src', 'data'].map((name) => one.getAttribute(name)).filter((value) => value !== null))`)
}
