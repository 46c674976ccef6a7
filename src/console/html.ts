// Text of pages. Every value is escaped, but for what this tag itself made: there is no other way to make Html.

const MADE: unique symbol = Symbol('html')

export interface Html {
  readonly [MADE]: string
}

type Part = Html | string | number | bigint | null | undefined | false | readonly Part[]

/** Attributes stand between double quotes; scripts, styles and comments take no values. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MADE]: texts.map((text, i) => text + (i < parts.length ? escaped(parts[i]) : '')).join('') }
}

export function textOf(made: Html): string {
  return made[MADE]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'object') return MADE in part ? part[MADE] : part.map(escaped).join('')
  return String(part).replace(/[&<>"']/g, (one) => ENTITIES[one] as string)
}
