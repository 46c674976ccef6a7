// From the body of an answer to its fields, each as the digits or text received: no id and no amount is ever a number here.

import type { Answer } from '../domain/outcome.ts'

/** What ties an answer to its request or settles it. */
const OF_THE_CONTRACT: ReadonlySet<string> = new Set([
  'REQUEST_ACTION',
  'TRANS_STATUS_NAME',
  'TRANS_VALUE',
  'TRANS_REQUEST_ID',
  'TRANS_RECORD_ID',
  'TRANS_ORDER_ID',
  'XTL_ORDER_ID',
  'TRANS_CUR',
  'CUSTOMER_VAULT_ID',
])

/**
 * The top-level fields of a JSON object, as received; null for anything else. Absent, null and nested values are left out.
 * An object that names a field twice says two things at once and JSON.parse would silently take the last: it is not an
 * answer. Nor is one with a field of the contract in other letters.
 */
export function parseAnswer(body: string): Answer | null {
  const json = body.startsWith('\uFEFF') ? body.slice(1) : body
  let parsed: unknown
  try {
    parsed = JSON.parse(json, asWritten)
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
  const members = Object.entries(parsed)
  if (countMembers(json) !== members.length || members.some(([name]) => isMisspelt(name))) return null
  const fields: [string, string][] = []
  for (const [name, value] of members) {
    if (typeof value === 'string') fields.push([name, value])
    else if (typeof value === 'boolean') fields.push([name, String(value)])
  }
  // Not by assignment: a field named __proto__ must stay a field.
  return Object.fromEntries(fields)
}

function isMisspelt(name: string): boolean {
  return !OF_THE_CONTRACT.has(name) && OF_THE_CONTRACT.has(name.normalize('NFKC').toUpperCase())
}

/** JSON.parse hands the source text of primitives to its reviver; TypeScript's declaration does not know it yet. */
function asWritten(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value
}

/** How many members the outermost object names, repeated names included. The text is valid JSON. */
function countMembers(json: string): number {
  let members = 0
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth === 1) members++
  }
  return members
}
