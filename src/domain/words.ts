// Sentences that name what a person can do next. Every door has its own spelling for that: an option and a command, a field
// of a request, a button. So the sentence holds the way itself, and the door spells it.

/** What a person can do next, whatever the door. */
export type Way = Setting | Act | AtTerminal

/** An option given with a file or a command. `lead`: words before it, left out by a door that has no such setting. */
export type Setting = {
  readonly set: SettingName
  readonly lead?: string
} & (
  | { /** null: the setting itself is meant, not a value of it. */ readonly to: string | null }
  | { readonly set: 'map' /** As the file names it. */; readonly column: string; readonly field: string }
)

export type SettingName =
  | 'allow-hidden'
  | 'attempt'
  | 'canary'
  | 'correct'
  | 'currency'
  | 'decimal'
  | 'exceptions'
  | 'format'
  | 'give-up-after'
  | 'header-row'
  | 'map'
  | 'max-declined'
  | 'merchant'
  | 'not-a-card'
  | 'only-new'
  | 'operation'
  | 'out'
  | 'reason'
  | 'rejects'
  | 'report'
  | 'retry'
  | 'run-key'
  | 'scale'
  | 'sheet'
  | 'sign'
  | 'timezone'

/** A use case to call. */
export type Act =
  /** `server-is-lost`: as restored, where the ledger was moved to that server. */
  | { readonly act: 'adopt'; readonly as: 'moved' | 'restored' | 'server-is-lost' }
  /** The approval policy of the configuration. */
  | { readonly act: 'adopt-policy' }
  | { readonly act: 'adopt-environment'; readonly merchant: string }
  | { readonly act: 'adopt-merchant'; readonly merchant: string }
  | { readonly act: 'approve-batch'; readonly batchId: string }
  | { readonly act: 'cancel-batch'; readonly batchId: string }
  | { readonly act: 'diagnose'; readonly look: 'usual' | 'whole' | 'deep' }
  | { readonly act: 'enable-endpoint'; readonly endpoint: string }
  /** `beside`: another ledger of the account is meant. */
  | { readonly act: 'init'; readonly beside?: true }
  | { readonly act: 'list-doubts'; readonly toFile: boolean }
  /** To a server, as the settings name it. */
  | { readonly act: 'migrate' }
  | { readonly act: 'resume-batch'; readonly batchId: string }
  | { readonly act: 'resume-merchant'; readonly merchant: string }
  /** What the sentence is about, once more: whoever reads it handed the file in, or gave the command. */
  | { readonly act: 'run-again'; readonly what: 'file' | 'command'; readonly lead?: string }
  /** In the foreground, by the process that reads the file. */
  | { readonly act: 'run-file'; readonly lead?: string }
  | { readonly act: 'save-format'; readonly name: string }
  | { readonly act: 'show-batch'; readonly batchId: string }
  | { readonly act: 'show-history'; readonly reference: string }
  /** `untilIdle`: it ends when it has nothing to do. */
  | { readonly act: 'start-worker'; readonly untilIdle: boolean }
  /** A person says that it is right, though the gateway's differs. */
  | { readonly act: 'trust-clock'; readonly merchant: string }
  | { readonly act: 'use-vault'; readonly to: 'create' | 'update' | 'delete'; readonly lead?: string }
  | { readonly act: 'verify-audit' }
  /** null: of a batch that the sentence does not name. */
  | { readonly act: 'write-results'; readonly batchId: string | null; readonly as: 'any' | 'csv' }

/** An order in the imperative that only whoever has a terminal at the server can follow. Made by `atTerminal`. */
export interface AtTerminal {
  readonly atTerminal: Text
}

/** How one door spells a way; null: it has none. */
export type Spelling = (way: Way) => string | null

/** Plain text, or text with ways in it. */
export type Text = string | Words

export class Words {
  readonly parts: readonly (string | Way)[]

  constructor(parts: readonly (string | Way)[]) {
    this.parts = joinedTexts(parts)
  }

  /** Readable at no door in particular, as in a log. */
  toString(): string {
    return spell(this, plainly)
  }
}

/** A template: words`There is no ledger. Create it: ${{ act: 'init' }}`. */
export function words(texts: TemplateStringsArray, ...values: readonly (Text | number | Way)[]): Words {
  return new Words(
    texts.flatMap((text, i) => {
      const value = values[i]
      if (value instanceof Words) return [text, ...value.parts]
      return typeof value === 'object' ? [text, value] : [`${text}${value ?? ''}`]
    }),
  )
}

/** A template: words`No worker is running. ${atTerminal`Start one: ${{ act: 'start-worker', untilIdle: false }}`}`. */
export function atTerminal(texts: TemplateStringsArray, ...values: readonly (Text | number | Way)[]): AtTerminal {
  return { atTerminal: words(texts, ...values) }
}

/** The text as one door shows it. */
export function spell(text: Text, spelling: Spelling): string {
  if (typeof text === 'string') return text
  return text.parts
    .map((part) => {
      if (typeof part === 'string') return part
      const spelled = spelling(part)
      if (spelled === null) return ''
      return `${'lead' in part ? part.lead : ''}${spelled}`
    })
    .join('')
}

/** As of a list of names: the words one after another, with a separator. */
export function joined(texts: readonly Text[], separator: string): Words {
  return new Words(texts.flatMap((text, i) => [...(i === 0 ? [] : [separator]), ...partsOf(text)]))
}

export function partsOf(text: Text): readonly (string | Way)[] {
  return typeof text === 'string' ? [text] : text.parts
}

/** Texts that follow one another are one, so that equal words have equal parts. */
function joinedTexts(parts: readonly (string | Way)[]): (string | Way)[] {
  const found: (string | Way)[] = []
  for (const part of parts) {
    const last = found.at(-1)
    if (typeof part === 'string' && typeof last === 'string') found[found.length - 1] = `${last}${part}`
    else if (part !== '') found.push(part)
  }
  return found
}

/** A mapping is written as `COLUMN=FIELD`. */
export function settingValue(setting: Setting): string | null {
  return 'column' in setting ? `${setting.column}=${setting.field}` : setting.to
}

/** With all that tells one way from another: a ledger is adopted as moved, or as restored. */
function plainly(way: Way): string {
  if ('atTerminal' in way) return spell(way.atTerminal, plainly)
  const said = 'act' in way ? Object.values({ ...way, lead: null }) : [way.set, settingValue(way)]
  return said.filter((word) => typeof word === 'string').join(' ')
}
