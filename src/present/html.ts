// HTML from templates. Every value that is put into one is escaped here and nowhere else: nothing but a template makes markup.

import { visible } from '../domain/visible.ts'

/** Markup that is safe to put into other markup. Only `html` makes it. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  static of(texts: TemplateStringsArray, values: readonly Value[]): Html {
    return new Html(texts.map((text, i) => text + markupOf(values[i] ?? '')).join(''))
  }

  toString(): string {
    return this.#markup
  }
}

/** null: nothing. */
type Value = Html | string | number | null | readonly Html[]

/** A template: html`<td>${text}</td>`. In attributes, put quotation marks around the value. */
export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.of(texts, values)
}

function markupOf(value: Value): string {
  if (value instanceof Html) return value.toString()
  return Array.isArray(value) ? value.map(markupOf).join('') : escaped(String(value))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** What a page would hide or a browser obey is seen instead. */
function escaped(text: string): string {
  return visible(text)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
